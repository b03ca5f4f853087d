import type { AssistantMessage, ImageContent, Model, StreamFn, ThinkingLevel, Tool, ToolResultMessage } from "@tau/llm";
import { declaration } from "@tau/llm/head";
import type { AgentLoopConfig, FirstHead, RunArguments } from "./config.ts";
import { defaultConvertToLlm } from "./convert.ts";
import type { AgentEvent } from "./events.ts";
import { runAgentLoop, runAgentLoopContinue } from "./loop.ts";
import type { AgentMessage } from "./messages.ts";
import {
  type Incoming,
  type Input,
  incomingOf,
  MessageQueues,
  type QueuedMessages,
  type QueueMode,
  type QueueSource,
} from "./queue.ts";
import type { AgentTool } from "./tool.ts";
import { defined, detach, errorText, guarded } from "./values.ts";

/** Where a run stands, as far as its events tell (law X5). */
type AgentPhase = "idle" | "building_context" | "processing_stream" | "executing_tool" | "turn_complete";
export type AgentListener = (event: AgentEvent, signal: AbortSignal) => void | Promise<void>;
type Start = (...run: RunArguments) => Promise<unknown>;

type Choice = { systemPrompt: string; model: Model; thinkingLevel: ThinkingLevel; tools: AgentTool[] };
type Progress = { isStreaming: boolean; streamingMessage?: AssistantMessage | undefined; phase: AgentPhase };
/** Over all runs; cost in US dollars. */
type Totals = { turnCount: number; totalTokens: number; totalCost: number };
/** Whether the last run was aborted or failed, and the results of the last batch. */
type Last = { isInterrupted: boolean; errorMessage?: string | undefined; lastToolResults: ToolResultMessage[] };
/** `pendingToolCalls`: ids of the calls that are running. */
type Work = { messages: AgentMessage[]; pendingToolCalls: Set<string> };
/** Assignable; changes during a run hold from the next one (law B9). */
export type AgentState = Choice & Progress & Totals & Last & Work;
type Declared = { tools: (Tool & { label: string })[]; pendingToolCalls: string[]; head?: FirstHead };
/** Plain JSON (law R7). */
export type AgentSnapshot = Omit<AgentState, "tools" | "pendingToolCalls"> & Declared & QueuedMessages;

export interface AgentOptions extends Partial<Omit<AgentLoopConfig, "model" | "thinkingLevel" | "queues">> {
  initialState: Partial<Pick<AgentState, "systemPrompt" | "thinkingLevel" | "tools" | "messages">> & { model: Model };
  streamFn?: StreamFn | undefined;
  steeringMode?: QueueMode;
  followUpMode?: QueueMode;
}

const UNUSED = { phase: "idle" as const, turnCount: 0, totalTokens: 0, totalCost: 0, isInterrupted: false };
const PHASES: Partial<Record<AgentEvent["type"], AgentPhase>> = {
  turn_start: "building_context",
  message_update: "processing_stream",
  tool_execution_start: "executing_tool",
  turn_end: "turn_complete",
};

const named = (value: string) =>
  Object.defineProperty(async (pending: Promise<void>) => await pending, "name", { value });

/** The loop with a state, queues and listeners (laws R, Q, L). */
export class Agent {
  readonly state: AgentState;
  steeringMode: QueueMode;
  followUpMode: QueueMode;
  readonly #options: AgentOptions;
  readonly #queues = new MessageQueues();
  readonly #listeners = new Set<AgentListener>();
  #controller = new AbortController();
  #run: Promise<void> | undefined;
  /** Whether the queues were empty when they were last asked after a turn; how much was in them at the end (Q4). */
  #idle = false;
  #left = 0;
  #inListener = false;
  /** Waits for a listener, under a name that is this agent's alone. */
  readonly #listening = named(`agent ${Math.random()}'s listener`);
  #head: FirstHead | undefined;
  /** How the run stood that a restored snapshot was taken of. */
  #suspended: Partial<AgentSnapshot> | undefined;

  constructor(options: AgentOptions) {
    const { systemPrompt = "", thinkingLevel = "off", model, tools = [], messages = [] } = options.initialState;
    const given = { systemPrompt, thinkingLevel, model, tools: [...tools], messages: [...messages] };
    this.state = { ...given, isStreaming: false, pendingToolCalls: new Set(), ...UNUSED, lastToolResults: [] };
    this.steeringMode = options.steeringMode ?? "one-at-a-time";
    this.followUpMode = options.followUpMode ?? "one-at-a-time";
    this.#options = options;
    this.#head = options.head;
  }

  /**
   * Starts a run with new messages and resolves when it is over (law R1); rejects during a run and without a message.
   * A message in the form `{id, message}` enters under its id, like one that was queued.
   */
  async prompt(input: Input | (AgentMessage | Incoming)[], images?: ImageContent[]): Promise<void> {
    const messages = [input].flat().map((one) => incomingOf(one, images));
    await this.#start((...run) => runAgentLoop(messages, ...run));
  }

  /** Starts a run from the transcript as it is (law R2); rejects when there is nothing to go on from. */
  async continue(): Promise<void> {
    await this.#start(runAgentLoopContinue);
  }

  /**
   * Queues a message that enters before the next request (Q1).
   * @returns its id: the one that `{id, message}` brings, or a new one. `message_start` and `message_end` carry it as
   *   `queueId` when the message enters; `clearAllQueues` and `snapshot` name it.
   * @throws TypeError for what is not a message, Error for an id that was given before
   */
  steer(input: Input, images?: ImageContent[]): string {
    const accepted = this.#queues.accept(input, images);
    this.#queues.add("steering", accepted);
    return accepted.id;
  }

  /** Queues a message that enters when the agent would stop (Q3). Ids are as with `steer`. */
  followUp(input: Input, images?: ImageContent[]): string {
    const accepted = this.#queues.accept(input, images);
    this.#queues.add("followUp", accepted);
    return accepted.id;
  }

  /**
   * Stops reply or batch and continues with this message in the same run (R10); starts a run when idle. Resolves with
   * the message's id when that run is over.
   */
  async interrupt(input: Input, images?: ImageContent[]): Promise<string> {
    const accepted = this.#queues.accept(input, images);
    if (!this.#run) await this.prompt(accepted);
    else {
      this.#queues.addInterrupt(accepted);
      this.#controller.abort();
      if (!this.#heldUp()) await this.#run.catch(() => undefined);
    }
    return accepted.id;
  }

  /** Ends the run within `limits.abortGraceMs` (R8). Queued messages stay queued (Q5). */
  abort(): void {
    if (!this.#run) return;
    this.state.isInterrupted = true;
    this.#queues.forgetInterrupts();
    this.#controller.abort();
  }

  /** Resolves when no run is on, however long that takes; rejects for a listener, which would wait for itself (L4). */
  async waitForIdle(): Promise<void> {
    if (this.#heldUp()) throw new Error("waitForIdle() inside a listener would wait for itself.");
    await this.#run?.catch(() => undefined); // `prompt` tells it
  }

  /**
   * Whether the caller is a listener that the run waits for. Behind its first `await` only the stack trace knows: there
   * `#listening` shows up. A listener that asks from a bare timer is not known.
   */
  #heldUp(): boolean {
    const limit = Reflect.get(Error, "stackTraceLimit");
    Reflect.set(Error, "stackTraceLimit", 100);
    const { stack = "" } = new Error();
    Reflect.set(Error, "stackTraceLimit", limit);
    return this.#inListener || (this.#run !== undefined && stack.includes(this.#listening.name));
  }

  /** Awaited for each event, in subscription order; returns the way out. Both hold from the next event (L1, L4). */
  subscribe(listener: AgentListener): () => void {
    const own: AgentListener = (event, signal) => listener(event, signal);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /** Forgets the conversation and the queues; prompt, model, tools and listeners stay. */
  reset(): void {
    this.#refuseWhileRunning();
    Object.assign(this.state, { ...UNUSED, messages: [], errorMessage: undefined, lastToolResults: [] });
    this.clearAllQueues();
    this.#head = this.#options.head;
    this.#suspended = undefined;
  }

  /** Plain JSON that `restore` takes, also in the middle of a batch (R7). */
  snapshot(): AgentSnapshot {
    const tools = this.state.tools.map((tool) => ({ ...declaration(tool), label: tool.label }));
    const pendingToolCalls = [...this.state.pendingToolCalls];
    const head = this.#head && { head: this.#head };
    return detach({ ...this.state, tools, pendingToolCalls, ...this.#queues.list(), ...head, ...this.#suspended });
  }

  /** Takes over a snapshot; its tools are found by name among the present ones. Open calls are closed by the next run (C9). */
  restore(snapshot: AgentSnapshot): void {
    this.#refuseWhileRunning();
    const { steering, followUp, queueIds, head, isStreaming, streamingMessage, pendingToolCalls, ...state } =
      detach(snapshot);
    const gone = () => Promise.reject(new Error("This tool is not available any more."));
    const own = new Map(this.state.tools.map((tool) => [tool.name, tool]));
    const tools = state.tools.map((tool) => own.get(tool.name) ?? { ...tool, execute: gone });
    Object.assign(this.state, { errorMessage: undefined, ...state, tools });
    this.#queues.restore({ steering, followUp, queueIds });
    this.#head = head;
    this.#suspended = isStreaming ? { isStreaming, streamingMessage, pendingToolCalls, phase: state.phase } : undefined;
  }

  hasQueuedMessages(): boolean {
    return this.#queues.size > 0;
  }

  /** Empties the queues and gives what was in them, with the ids, so that it can go back to the user (Q5). */
  clearAllQueues(): QueuedMessages {
    return this.#queues.clear();
  }

  #refuseWhileRunning(): void {
    if (this.#run) throw new Error("The agent is running: steer() or followUp() adds a message, abort() stops it.");
  }

  async #start(first: Start): Promise<void> {
    this.#refuseWhileRunning();
    Object.assign(this.state, { isStreaming: true, isInterrupted: false });
    this.#queues.forgetInterrupts();
    this.#run = this.#runAll(first).finally(() => {
      this.#run = undefined;
      Object.assign(this.state, { isStreaming: false, streamingMessage: undefined, phase: "idle" });
      this.state.pendingToolCalls.clear();
    });
    await this.#run;
  }

  /** Runs until nothing is left that came too late for the run before (Q4). */
  async #runAll(first: Start): Promise<void> {
    const { state } = this;
    for (let start: Start | undefined = first; start; start = this.#following()) {
      this.#controller = new AbortController();
      Object.assign(state, { errorMessage: undefined, messages: state.messages.slice() });
      const { systemPrompt, messages, tools } = state;
      const led = messages[0]?.role === "system";
      if (!led) this.#head ??= { systemPrompt, tools: tools.map(declaration) };
      // Beside a prompt that the transcript brings an empty one says nothing.
      const context = { messages, tools: [...tools], ...((!led || systemPrompt) && { systemPrompt }) };
      const { signal } = this.#controller;
      await start(context, this.#config(), (event) => this.#emit(event), signal, this.#options.streamFn);
    }
  }

  #following(): Start | undefined {
    const late = this.#queues.size > (this.#idle ? 0 : this.#left) && !this.state.errorMessage;
    const goesOn = !this.state.isInterrupted && (late || this.#queues.interrupted);
    this.#queues.forgetInterrupts(); // from here on they are the first of the steering
    return goesOn ? runAgentLoopContinue : undefined;
  }

  #config(): AgentLoopConfig {
    const options = this.#options;
    const { model, thinkingLevel } = this.state;
    const started = this.#suspended?.pendingToolCalls;
    this.#suspended = undefined;
    return {
      ...{ convertToLlm: defaultConvertToLlm, ...options, model, thinkingLevel, queues: this.#source() },
      ...defined({ head: this.#head, startedCalls: started ? new Set(started) : options.startedCalls }),
      prepareNextTurn: async (turn, signal) => {
        const next = await options.prepareNextTurn?.(turn, signal);
        const { context, ...choice } = next ?? {};
        // What the next turn works with holds for the runs after this one, too.
        const changes = defined({ ...context, messages: context?.messages.slice(), ...choice });
        if (!signal.aborted) Object.assign(this.state, changes);
        return next;
      },
    };
  }

  /** The queues as the run sees them, with what the hooks of the options add. */
  #source(): QueueSource {
    const queues = this.#queues;
    const { getSteeringMessages, getFollowUpMessages } = this.#options;
    return {
      underway: queues.underway,
      take: async (from) => {
        const steering = from === "steering";
        // A hook that fails takes nothing along (Q4).
        const more = ((await (steering ? getSteeringMessages?.() : getFollowUpMessages?.())) ?? []).map((message) =>
          queues.accept(message),
        );
        const taken = queues.take(steering ? "steering" : "followUp", steering ? this.steeringMode : this.followUpMode);
        this.#idle = taken.length + more.length === 0;
        return [...taken, ...more];
      },
      giveBack: (taken, from) => queues.giveBack(taken, from),
      takeInterrupt: () => {
        const messages = queues.takeInterrupts();
        if (messages.length === 0) return undefined;
        this.#controller = new AbortController();
        return { messages, signal: this.#controller.signal };
      },
    };
  }

  #emit(event: AgentEvent): void | Promise<void> {
    reduce(this.state, event);
    if (event.type === "turn_end") this.#idle = false;
    if (event.type === "agent_end") this.#left = this.#queues.size;
    const errors: string[] = [];
    let pending: Promise<void> | undefined;
    for (const listener of [...this.#listeners]) {
      const call = () => this.#call(listener, event, errors);
      pending = pending ? pending.then(call) : call();
    }
    // The loop tells all listeners of it (L3).
    const check = () => (errors.length > 0 ? Promise.reject(new Error(errors.join("; "))) : undefined);
    return pending ? pending.then(check) : check();
  }

  /** One listener: its failure is noted, not thrown. */
  #call(listener: AgentListener, event: AgentEvent, errors: string[]): Promise<void> | undefined {
    this.#inListener = true;
    const call = () => listener(event, this.#controller.signal);
    const pending = guarded(call, (error) => void errors.push(errorText(error)));
    this.#inListener = false;
    return pending ? this.#listening(pending) : undefined;
  }
}

/** What an event does to the state, before listeners see it (L1). */
function reduce(state: AgentState, event: AgentEvent): void {
  state.phase = PHASES[event.type] ?? state.phase;
  if (event.type === "tool_execution_start") state.pendingToolCalls.add(event.toolCallId);
  if (event.type === "tool_execution_end") state.pendingToolCalls.delete(event.toolCallId);
  if (event.type === "message_end") state.messages.push(event.message);
  if ("message" in event && event.message.role === "assistant")
    state.streamingMessage = /start|update/.test(event.type) ? event.message : undefined;
  if (event.type !== "turn_end") return;
  const { usage, stopReason, errorMessage } = event.message;
  if (stopReason === "error" || stopReason === "aborted") state.errorMessage = errorMessage ?? stopReason;
  if (event.toolResults.length > 0) state.lastToolResults = event.toolResults;
  state.turnCount++;
  state.totalTokens += usage.totalTokens;
  state.totalCost += usage.cost.total;
}
