import {
  Agent,
  type AgentContext,
  type AgentEvent,
  type AgentMessage,
  type AgentOptions,
  type AgentTool,
  type Turn,
} from "@tau/agent";
import type { AssistantMessage, Context, Model, StreamFn, StreamOptions, SystemMessage } from "@tau/llm";
import { EMPTY_HEAD, replayHead } from "@tau/llm/head";
import type { HookBus } from "../../hooks/hook-bus.ts";
import type { MaskSecrets } from "../../platform/secret-mask.ts";
import type { Projection } from "../../store/session-store.ts";
import type { ToolPipeline } from "../../tools/pipeline/tool-pipeline.ts";
import { liftHead } from "../context/lift-head.ts";
import type { SessionHead } from "../context/session-head.ts";
import type { Transcript } from "../context/transcript.ts";
import type { PhaseTracker } from "../events/phase-tracker.ts";
import type { SessionEvent } from "../events/session-event.ts";
import type { ModelChoice } from "../models/model-choice.ts";
import type { SessionSettings } from "../options.ts";
import type { AcceptedMessage, SessionQueue } from "../queues/session-queue.ts";
import type { BudgetKeeper } from "./budget.ts";
import type { LimitHit } from "./failure.ts";
import { maskReply } from "./mask-reply.ts";
import type { RunEnding } from "./outcome.ts";
import { contextIsFull, visibleText } from "./reply-verdict.ts";
import { startedCalls } from "./started-calls.ts";
import type { RunEnd, Start } from "./supervisor.ts";

export interface AgentLinkParts {
  readonly settings: SessionSettings;
  readonly transcript: Transcript;
  readonly head: SessionHead;
  readonly models: ModelChoice;
  readonly pipeline: ToolPipeline;
  readonly budget: BudgetKeeper;
  readonly phase: PhaseTracker;
  readonly streamFn: StreamFn;
  readonly bus: HookBus<RunEnding>;
  readonly getApiKey: ((model: Model) => string | undefined | Promise<string | undefined>) | undefined;
  readonly emit: (event: SessionEvent) => Promise<void> | undefined;
  /** Shows a line to whoever watches the session. */
  readonly warn: (message: string) => unknown;
  readonly queues: SessionQueue;
  /** A reply came to a context of so many tokens, as estimated. */
  readonly answered: (reply: AssistantMessage, sent: number) => void;
  /** Everybody has heard of a reply. */
  readonly replied: (reply: AssistantMessage) => Promise<void>;
  /** The budget is used up between two turns of a run. */
  readonly limitHit: (hit: LimitHit) => void;
  /** Asked between two turns; true when the context was changed. */
  readonly betweenTurns: (signal: AbortSignal) => Promise<boolean>;
  readonly mask: MaskSecrets;
  readonly now: () => number;
}

/** Stands at the head of a transcript that does not begin with a prompt, so that later changes are changes of nothing. */
const NOTHING_TOLD: SystemMessage = { role: "system", content: "", timestamp: 0 };

/** The agent of a session, tied to transcript, head, phases and budget: disk is its first and only listener (law L5). */
export class AgentLink {
  readonly agent: Agent;
  readonly #parts: AgentLinkParts;
  #tools: readonly AgentTool[];
  #opened = false;
  /** The model and the level of the transcript when it was taken over. */
  #inFile: Pick<Projection, "model" | "thinkingLevel"> = {};
  #end: RunEnd = {};
  /** What providers have said of their requests so far. */
  readonly #warned = new Set<string>();

  constructor(parts: AgentLinkParts, tools: readonly AgentTool[]) {
    this.#parts = parts;
    this.#tools = tools;
    const { settings, models, pipeline, transcript } = parts;
    const projection = transcript.load(models.model.id);
    const options: AgentOptions = {
      initialState: { model: models.model, thinkingLevel: models.level },
      streamFn: (model, context, options) => this.#stream(model, context, options),
      steeringMode: settings.steeringMode,
      followUpMode: settings.followUpMode,
      ...(settings.toolExecution && { toolExecution: settings.toolExecution }),
      limits: settings.limits,
      sessionId: transcript.store.header.id,
      startedCalls: startedCalls(transcript.store, projection),
      beforeToolCall: (call, signal) => pipeline.before(call, signal),
      afterToolCall: (call, signal) => pipeline.after(call, signal),
      shouldStopAfterTurn: (turn) => this.#stopsAfter(turn),
      prepareNextTurn: (_, signal) => this.#nextTurn(signal),
    };
    this.agent = new Agent(withRows(options, parts));
    this.agent.subscribe((event) => this.#on(event));
    parts.queues.serve(this.agent);
    this.#takeOver(projection);
  }

  /** Without the head: what was said. */
  get messages(): AgentMessage[] {
    const [first, ...rest] = this.agent.state.messages;
    return first && first.role !== "system" ? [first, ...rest] : rest;
  }

  /** Of `messages`, without making the list. */
  get messageCount(): number {
    const { messages } = this.agent.state;
    return messages[0]?.role === "system" ? messages.length - 1 : messages.length;
  }

  set tools(tools: readonly AgentTool[]) {
    this.#tools = tools;
    this.#parts.head.wantTools(tools);
  }

  get tools(): readonly AgentTool[] {
    return this.#tools;
  }

  /** Runs the agent once. */
  async run(start: Start, signal: AbortSignal): Promise<RunEnd> {
    const told = this.#prepare();
    this.#end = {};
    const added = start.type === "prompt" ? await this.#addedBy(signal) : [];
    const messages = start.type === "prompt" ? [...told, ...start.messages, ...added] : told;
    const run = messages.length > 0 || start.type === "prompt" ? this.agent.prompt(messages) : this.agent.continue();
    // A listener of the very first event may have stopped the chain before there was a run to stop.
    if (signal.aborted) this.agent.abort();
    await run;
    return this.#end;
  }

  /** What rows of the bus put behind a prompt. */
  async #addedBy(signal: AbortSignal): Promise<AgentMessage[]> {
    const { bus } = this.#parts;
    return bus.has("beforeTurn") ? bus.beforeTurn(signal) : [];
  }

  /** Puts messages into the transcript without asking the model: a run that is aborted before its first request. */
  async enter(messages: readonly (AgentMessage | AcceptedMessage)[]): Promise<void> {
    const told = this.#prepare();
    const run = this.agent.prompt([...told, ...messages]);
    this.agent.abort();
    await run;
  }

  /** Puts a message into the transcript between two runs, e.g. of a command that the user ran himself. */
  add(message: AgentMessage): void {
    const { emit } = this.#parts;
    this.#prepare();
    void emit({ type: "message_start", message });
    this.agent.state.messages = [...this.agent.state.messages, message];
    this.#record(message);
    void emit({ type: "message_end", message });
  }

  /** Goes on with what the store gives: after a compaction, a hidden attempt, a move in the tree. */
  reload(): void {
    const { transcript, models } = this.#parts;
    this.#takeOver(transcript.load(models.model.id));
  }

  #takeOver({ system, messages, entryIds: _ids, ...choice }: Projection): void {
    const { head } = this.#parts;
    this.#inFile = choice;
    const empty = !system && messages.length === 0;
    head.replay(replayHead(EMPTY_HEAD, system ? [system, ...messages] : messages));
    this.agent.state.messages = empty ? [] : [system ?? NOTHING_TOLD, ...messages];
    // A transcript that begins gets its head first.
    if (empty) this.#opened = false;
  }

  /**
   * Tells the model what changed since the last request, and records it (laws B8, F2). Behind calls that have no
   * result yet it has to wait for the results that the run begins with: then it is given back, to be sent along.
   */
  #prepare(): SystemMessage[] {
    const { agent } = this;
    const { models, head, pipeline, now } = this.#parts;
    if (!this.#opened) this.#open();
    const change = head.change(now());
    const waits = change !== undefined && hasOpenCalls(agent.state.messages);
    if (change && !waits) this.#tell(change);
    agent.state.systemPrompt = head.promptText;
    agent.state.tools = pipeline.wrap(this.#tools);
    agent.state.model = models.model;
    agent.state.thinkingLevel = models.level;
    return waits ? withoutTools(change) : [];
  }

  #open(): void {
    const { models, head, now } = this.#parts;
    const begins = this.agent.state.messages.length === 0;
    this.#opened = true;
    models.open(this.#inFile);
    if (begins) this.#tell(head.first(now()));
  }

  #tell(message: SystemMessage): void {
    const { transcript, models, head } = this.#parts;
    transcript.record(message, models.model.id);
    head.tell(message);
    this.agent.state.messages = [...this.agent.state.messages, message];
  }

  /** A request beside the run, with the key and the network settings of the session. */
  ask(model: Model, context: Context, options: StreamOptions): ReturnType<StreamFn> {
    return this.#send(model, context, { options, begin: () => undefined });
  }

  #stream(model: Model, context: Context, options: StreamOptions): ReturnType<StreamFn> {
    const { phase, budget } = this.#parts;
    const begin = () => {
      phase.signal("request");
      budget.request();
    };
    return this.#send(model, liftHead(context), { options, begin });
  }

  #send(model: Model, context: Context, { options, begin }: { options: StreamOptions; begin: () => void }) {
    const { getApiKey, settings, streamFn } = this.#parts;
    const { timeouts, network } = settings;
    const onWarning = (text: string) => this.#warnOnce(text);
    const all = { ...options, onWarning, ...(timeouts && { timeouts }), ...(network && { network }) };
    const send = (apiKey: string | undefined): ReturnType<StreamFn> => {
      // A key that came after the abort makes no request (law R9).
      if (options.signal?.aborted) throw new Error("The run was aborted.");
      begin();
      return streamFn(model, context, apiKey === undefined ? all : { ...all, apiKey });
    };
    const apiKey = getApiKey?.(model);
    return apiKey instanceof Promise ? apiKey.then(send) : send(apiKey);
  }

  /** What could not be sent as it is, or was sent otherwise than before, is said once a session (report R210). */
  #warnOnce(text: string): void {
    if (this.#warned.has(text)) return;
    this.#warned.add(text);
    this.#parts.warn(text);
  }

  #stopsAfter({ message, toolResults }: Turn): boolean {
    const { budget, models, limitHit } = this.#parts;
    if (contextIsFull(message, models.model.contextWindow)) return true;
    const over = toolResults.length === 0 && visibleText(message) !== "" && !this.agent.hasQueuedMessages();
    const hit = over ? undefined : budget.hit();
    if (hit) limitHit(hit);
    return hit !== undefined;
  }

  async #nextTurn(signal: AbortSignal) {
    const { models, betweenTurns, head } = this.#parts;
    const { model, level: thinkingLevel } = models;
    if (!(await betweenTurns(signal))) return { model, thinkingLevel };
    const { state } = this.agent;
    const context: AgentContext = {
      systemPrompt: head.promptText,
      messages: state.messages.slice(),
      tools: state.tools.slice(),
    };
    return { context, model, thinkingLevel };
  }

  #on(event: AgentEvent): Promise<void> | undefined {
    if (event.type === "message_update") return this.#parts.emit(event);
    const reply = event.type === "message_end" && event.message.role === "assistant" ? event.message : undefined;
    if (reply) maskReply(reply, this.#parts.mask);
    this.#note(event);
    const shown = this.#parts.emit(event);
    if (!reply) return shown;
    return (async () => {
      await shown;
      await this.#parts.replied(reply);
    })();
  }

  /** Before anybody else hears of the event (law L5). */
  #note(event: AgentEvent): void {
    const { phase } = this.#parts;
    if (event.type === "agent_start") this.#end = {};
    else if (event.type === "agent_end" && event.limit) this.#end = { ...this.#end, limit: event.limit };
    else if (event.type === "message_end") this.#record(event.message, event.queueId);
    else if (event.type === "turn_start" || event.type === "turn_end") phase.signal(event.type);
    else if (event.type === "message_start" && event.message.role === "assistant") phase.signal("reply_start");
  }

  #record(message: AgentMessage, queueId?: string): void {
    const { transcript, models, head, budget, queues, answered } = this.#parts;
    const sent = transcript.tokens;
    transcript.record(message, models.model.id, queues.size > 0 ? queueId : undefined);
    if (message.role === "system") head.tell(message);
    if (message.role === "assistant") {
      this.#end = { ...this.#end, reply: message };
      budget.reply(message);
      answered(message, sent);
    }
    if (queueId !== undefined) queues.entered(queueId);
  }
}

/**
 * With the hooks of the loop that copy what they get: they are there only while the bus has rows for them. The agent
 * looks at the start of each run.
 */
function withRows(options: AgentOptions, { bus, pipeline }: AgentLinkParts): AgentOptions {
  const context: AgentOptions["transformContext"] = (messages, signal) => bus.context(messages, signal);
  const message: AgentOptions["beforeMessageEnd"] = async (given, signal) => {
    const replaced = await bus.message(given, signal);
    return replaced && pipeline.replaced(replaced);
  };
  return Object.defineProperties(options, {
    transformContext: { enumerable: true, get: () => (bus.has("context") ? context : undefined) },
    beforeMessageEnd: { enumerable: true, get: () => (bus.has("message") ? message : undefined) },
  });
}

/** The last thing that was said is a message with calls, and some of them have no result. */
function hasOpenCalls(messages: readonly AgentMessage[]): boolean {
  const at = messages.findLastIndex(({ role }) => role !== "toolResult");
  const last = messages[at];
  if (last?.role !== "assistant") return false;
  const answered = new Set(messages.slice(at + 1).map((result) => "toolCallId" in result && result.toolCallId));
  return last.content.some((block) => block.type === "toolCall" && !answered.has(block.id));
}

/** The loop itself tells which tools are new or gone, behind the results that it begins with. */
function withoutTools({ toolsAdded: _added, toolsRemoved: _removed, ...rest }: SystemMessage): SystemMessage[] {
  return rest.sections ? [rest] : [];
}
