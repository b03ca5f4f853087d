import { Agent, type AgentContext, type AgentEvent, type AgentMessage, type AgentOptions, type Turn } from "@tau/agent";
import type { AssistantMessage } from "@tau/llm";
import type { HookBus } from "../../hooks/hook-bus.ts";
import type { MaskSecrets } from "../../platform/secret-mask.ts";
import { startedCalls } from "../../store/tau-records.ts";
import type { ToolPipeline } from "../../tools/pipeline/tool-pipeline.ts";
import { RunContext } from "../context/run-context.ts";
import type { SessionHead } from "../context/session-head.ts";
import type { Transcript } from "../context/transcript.ts";
import type { EventHub } from "../events/event-hub.ts";
import type { PhaseTracker } from "../events/phase.ts";
import type { SessionEvent } from "../events/session-event.ts";
import type { ModelChoice } from "../models/model-choice.ts";
import type { SessionSettings } from "../options.ts";
import type { AcceptedMessage, SessionQueue } from "../queues/session-queue.ts";
import type { BudgetKeeper } from "./budget.ts";
import type { DataAnswer } from "./data-answer.ts";
import type { LimitHit } from "./failure.ts";
import type { ModelRequests } from "./model-requests.ts";
import type { RunEnding } from "./outcome.ts";
import { contextIsFull, visibleText } from "./reply-verdict.ts";
import type { RunEnd, Start } from "./step.ts";

export interface AgentLinkParts {
  readonly settings: SessionSettings;
  readonly transcript: Transcript;
  readonly head: SessionHead;
  readonly models: ModelChoice;
  readonly pipeline: ToolPipeline;
  readonly budget: BudgetKeeper;
  readonly phase: PhaseTracker;
  readonly requests: ModelRequests;
  readonly bus: HookBus<RunEnding>;
  readonly hub: EventHub<SessionEvent>;
  readonly queues: SessionQueue;
  /** A reply came to a context of so many tokens, as estimated. */
  readonly answered: (reply: AssistantMessage, sent: number) => void;
  /** Everybody has heard of a reply. */
  readonly replied: (reply: AssistantMessage) => Promise<void>;
  /** What the prompt that is on is to give as data, if it is. */
  readonly answer: () => DataAnswer | undefined;
  /** The budget is used up between two turns of a run. */
  readonly limitHit: (hit: LimitHit) => void;
  /** Asked between two turns; true when the context was changed. */
  readonly betweenTurns: (signal: AbortSignal) => Promise<boolean>;
  readonly mask: MaskSecrets;
  readonly now: () => number;
}

/** The agent of a session, tied to transcript, head, phases and budget: disk is its first and only listener (law L5). */
export class AgentLink {
  readonly agent: Agent;
  readonly #parts: AgentLinkParts;
  readonly #context: RunContext;
  #end: RunEnd = {};

  constructor(parts: AgentLinkParts) {
    this.#parts = parts;
    const { settings, models, pipeline, transcript } = parts;
    const projection = transcript.load(models.model.id);
    const options: AgentOptions = {
      initialState: { model: models.model, thinkingLevel: models.level },
      streamFn: parts.requests.ofRun,
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
    this.#context = new RunContext(parts, this.agent);
    this.#context.takeOver(projection);
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

  /** Runs the agent once. */
  async run(start: Start, signal: AbortSignal): Promise<RunEnd> {
    const told = this.#context.prepare();
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
    const told = this.#context.prepare();
    const run = this.agent.prompt([...told, ...messages]);
    this.agent.abort();
    await run;
  }

  /** Puts a message into the transcript between two runs, e.g. of a command that the user ran himself. */
  add(message: AgentMessage): void {
    const { hub } = this.#parts;
    this.#context.prepare();
    void hub.emit({ type: "message_start", message });
    this.agent.state.messages = [...this.agent.state.messages, message];
    this.#record(message);
    void hub.emit({ type: "message_end", message });
  }

  /** Continues with what the store gives: after a compaction, a hidden attempt, a move in the tree. */
  reload(): void {
    const { transcript, models } = this.#parts;
    this.#context.takeOver(transcript.load(models.model.id));
  }

  #stopsAfter({ message, toolResults }: Turn): boolean {
    const { budget, models, limitHit, answer } = this.#parts;
    if (answer()?.isOver) return true;
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
    if (event.type === "message_update") return this.#parts.hub.emit(event);
    const reply = event.type === "message_end" && event.message.role === "assistant" ? event.message : undefined;
    if (reply) maskReply(reply, this.#parts.mask);
    this.#note(event);
    const shown = this.#parts.hub.emit(event);
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

/**
 * Masks the agent's own keys in what a model says, before it is on disk and sent again (report R143): in place, since the
 * run and the state hold this very message, so that the next request has what the file has (law O3). Calls stay as they
 * are, since a masked argument would do something else, and so does signed thinking, which its provider checks.
 */
function maskReply(message: AssistantMessage, mask: MaskSecrets): void {
  const content = message.content.map((block) =>
    block.type === "text" || (block.type === "thinking" && block.thinkingSignature === undefined) ? mask(block) : block,
  );
  // A new list: events of the stream may hold the old one.
  if (content.some((block, index) => block !== message.content[index])) message.content = content;
}
