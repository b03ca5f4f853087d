import type { AssistantMessage, ImageContent, Model, StreamFn, ThinkingLevel, Tool, ToolResultMessage } from "@tau/llm";
import type { AgentLoopConfig, Head, RunArguments } from "./config.ts";
import { defaultConvertToLlm } from "./convert.ts";
import type { AgentEvent } from "./events.ts";
import { declaration } from "./head.ts";
import { runAgentLoop, runAgentLoopContinue } from "./loop.ts";
import type { AgentMessage } from "./messages.ts";
import type { AgentTool } from "./tool.ts";
import { defined, detach, errorText, pendingOf } from "./values.ts";

/** Where a run stands, as far as its events tell (law X5). */
type AgentPhase = "idle" | "building_context" | "processing_stream" | "executing_tool" | "turn_complete";
export type QueueMode = "one-at-a-time" | "all";
export type AgentListener = (event: AgentEvent, signal: AbortSignal) => void | Promise<void>;
type Input = string | AgentMessage;
type Start = (...run: RunArguments) => Promise<unknown>;

type Choice = { systemPrompt: string; model: Model; thinkingLevel: ThinkingLevel; tools: AgentTool[] };
type Progress = { isStreaming: boolean; streamingMessage?: AssistantMessage | undefined; phase: AgentPhase };
/** Over all runs; cost in US dollars. */
type Totals = { turnCount: number; totalTokens: number; totalCost: number };
/** Whether the last run was aborted or failed, and the results of the last batch. */
type Last = { isInterrupted: boolean; errorMessage?: string | undefined; lastToolResults: ToolResultMessage[] };
/** Assignable; changes during a run hold from the next one (law B9). `pendingToolCalls`: ids of the calls that are running. */
export type AgentState = Choice &
  Progress &
  Totals &
  Last & { messages: AgentMessage[]; pendingToolCalls: Set<string> };
type Queues = { steering: AgentMessage[]; followUp: AgentMessage[] };
type Declared = { tools: (Tool & { label: string })[]; pendingToolCalls: string[]; head?: Head };
/** Plain JSON (law R7). */
export type AgentSnapshot = Omit<AgentState, "tools" | "pendingToolCalls"> & Declared & Queues;

export interface AgentOptions extends Partial<Omit<AgentLoopConfig, "model" | "thinkingLevel">> {
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

/** The loop with a state, queues and listeners (laws R, Q, L). */
export class Agent {
  readonly state: AgentState;
  steeringMode: QueueMode;
  followUpMode: QueueMode;
  readonly #options: AgentOptions;
  readonly #queues: Queues = { steering: [], followUp: [] };
  /** How many messages at the head of the steering queue are interrupts. */
  #interrupts = 0;
  #listeners: readonly AgentListener[] = [];
  #controller = new AbortController();
  #run: Promise<void> | undefined;
  /** The run ends since nothing more was to do; how many messages were queued when it ended (Q4). */
  #idle = false;
  #left = 0;
  #inListener = false;
  /** The listener that is being awaited. */
  #held: void | Promise<void> = undefined;
  #head: Head | undefined;
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

  /** Starts a run with new messages and resolves when it is over (law R1); rejects during a run and without a message. */
  async prompt(input: Input | AgentMessage[], images?: ImageContent[]): Promise<void> {
    const messages = Array.isArray(input) ? input : [toMessage(input, images)];
    await this.#start((...run) => runAgentLoop(messages, ...run));
  }

  /** Starts a run from the transcript as it is (law R2); rejects when there is nothing to go on from. */
  async continue(): Promise<void> {
    await this.#start(runAgentLoopContinue);
  }

  /** Queues a message that enters before the next request (Q1). */
  steer(input: Input, images?: ImageContent[]): void {
    this.#queues.steering.push(toMessage(input, images));
  }

  /** Queues a message that enters when the agent would stop (Q3). */
  followUp(input: Input, images?: ImageContent[]): void {
    this.#queues.followUp.push(toMessage(input, images));
  }

  /** Stops reply or batch and goes on with this message in the same run (R10); starts one when idle. */
  interrupt(input: Input, images?: ImageContent[]): Promise<void> {
    if (!this.#run) return this.prompt(input, images);
    this.#queues.steering.splice(this.#interrupts++, 0, toMessage(input, images));
    this.#controller.abort();
    const idle = this.#inListener ? Promise.resolve() : this.waitForIdle();
    idle.catch(() => undefined); // nobody has to wait for it
    return idle;
  }

  /** Ends the run within `limits.abortGraceMs` (R8). Queued messages stay queued (Q5). */
  abort(): void {
    if (!this.#run) return;
    this.state.isInterrupted = true;
    this.#interrupts = 0;
    this.#controller.abort();
  }

  /** Resolves when no run is on; rejects for a listener that would wait for itself, at the latest after the grace (L4). */
  async waitForIdle(): Promise<void> {
    const stuck = new Error("waitForIdle() inside a listener would wait for itself.");
    const held = this.#held;
    if (this.#inListener) throw stuck;
    // Perhaps the listener that is awaited asks: then it does not end before this promise does.
    await new Promise<void>((resolve, reject) => {
      const graceMs = this.#options.limits?.abortGraceMs ?? 1000;
      const timer = held ? setTimeout(() => reject(stuck), graceMs) : undefined;
      void held?.then(() => clearTimeout(timer));
      void Promise.resolve(this.#run).then(resolve, () => resolve());
    });
  }

  /** Awaited for each event, in subscription order; returns the way out. Both hold from the next event (L1, L4). */
  subscribe(listener: AgentListener): () => void {
    const own: AgentListener = (event, signal) => listener(event, signal);
    this.#listeners = [...this.#listeners, own];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== own);
    };
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
    return detach({ ...this.state, tools, pendingToolCalls, ...this.#queues, ...head, ...this.#suspended });
  }

  /** Takes over a snapshot; its tools are found by name among the present ones. Open calls are closed by the next run (C9). */
  restore(snapshot: AgentSnapshot): void {
    this.#refuseWhileRunning();
    const { steering, followUp, head, isStreaming, streamingMessage, pendingToolCalls, ...state } = detach(snapshot);
    const gone = () => Promise.reject(new Error("This tool is not available any more."));
    const own = new Map(this.state.tools.map((tool) => [tool.name, tool]));
    const tools = state.tools.map((tool) => own.get(tool.name) ?? { ...tool, execute: gone });
    Object.assign(this.state, { errorMessage: undefined, ...state, tools });
    this.clearAllQueues();
    Object.assign(this.#queues, { steering, followUp });
    this.#head = head;
    this.#suspended = isStreaming ? { isStreaming, streamingMessage, pendingToolCalls, phase: state.phase } : undefined;
  }

  get #queued(): number {
    return this.#queues.steering.length + this.#queues.followUp.length;
  }

  hasQueuedMessages(): boolean {
    return this.#queued > 0;
  }

  /** Empties the queues and gives what was in them, so that it can go back to the user (Q5). */
  clearAllQueues(): Queues {
    this.#interrupts = 0;
    return { steering: this.#queues.steering.splice(0), followUp: this.#queues.followUp.splice(0) };
  }

  #refuseWhileRunning(): void {
    if (this.#run) throw new Error("The agent is running: steer() or followUp() adds a message, abort() stops it.");
  }

  async #start(first: Start): Promise<void> {
    this.#refuseWhileRunning();
    Object.assign(this.state, { isStreaming: true, isInterrupted: false });
    this.#interrupts = 0; // what an abort overtook is plain steering
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
    const emit = (event: AgentEvent) => this.#emit(event);
    for (let start: Start | undefined = first; start; start = this.#following()) {
      this.#controller = new AbortController();
      Object.assign(state, { errorMessage: undefined, messages: state.messages.slice() });
      const { systemPrompt, messages, tools } = state;
      const led = messages[0]?.role === "system";
      if (!led) this.#head ??= { systemPrompt, tools: tools.map(declaration) };
      // Beside a prompt that the transcript brings an empty one says nothing.
      const context = { messages, tools: [...tools], ...((!led || systemPrompt) && { systemPrompt }) };
      await start(context, this.#config(), emit, this.#controller.signal, this.#options.streamFn);
    }
  }

  #following(): Start | undefined {
    if (this.state.isInterrupted) return undefined;
    const interrupt = this.#takeInterrupt();
    if (interrupt) return (...run) => runAgentLoop(interrupt.messages, ...run);
    const late = this.#idle ? this.#queued > 0 : this.#queued > this.#left;
    return late && !this.state.errorMessage ? runAgentLoopContinue : undefined;
  }

  #takeInterrupt() {
    if (this.#interrupts === 0) return undefined;
    this.#controller = new AbortController();
    const messages = this.#queues.steering.splice(0, this.#interrupts);
    this.#interrupts = 0;
    return { messages, signal: this.#controller.signal };
  }

  #config(): AgentLoopConfig {
    const options = this.#options;
    const { model, thinkingLevel } = this.state;
    const started = this.#suspended?.pendingToolCalls;
    this.#suspended = undefined;
    const take = (queue: AgentMessage[], mode: QueueMode) => queue.splice(0, mode === "all" ? queue.length : 1);
    const steering = () => take(this.#queues.steering, this.steeringMode);
    const followUp = () => take(this.#queues.followUp, this.followUpMode);
    return {
      ...{ convertToLlm: defaultConvertToLlm, ...options, model, thinkingLevel },
      ...defined({ head: this.#head, startedCalls: started ? new Set(started) : options.startedCalls }),
      getSteeringMessages: async () => [...steering(), ...((await options.getSteeringMessages?.()) ?? [])],
      getFollowUpMessages: async () => {
        const messages = [...followUp(), ...((await options.getFollowUpMessages?.()) ?? [])];
        this.#idle = messages.length === 0;
        return messages;
      },
      returnMessages: (messages, from) => {
        if (from === "follow_up") this.#queues.followUp.unshift(...messages);
        else this.#queues.steering.splice(this.#interrupts, 0, ...messages);
      },
      takeInterrupt: () => this.#takeInterrupt(),
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

  #emit(event: AgentEvent): void | Promise<void> {
    reduce(this.state, event);
    if (event.type === "turn_start") this.#idle = false;
    if (event.type === "agent_end") this.#left = this.#queued;
    const errors: string[] = [];
    const pending = this.#listeners.reduce<void | Promise<void>>((before, listener) => {
      const call = () => this.#call(listener, event, errors);
      return before ? before.then(call) : call();
    }, undefined);
    // The loop tells all listeners of it (L3).
    const check = () => (errors.length > 0 ? Promise.reject(new Error(errors.join("; "))) : undefined);
    return pending ? pending.then(check) : check();
  }

  /** One listener: its failure is noted, not thrown. */
  #call(listener: AgentListener, event: AgentEvent, errors: string[]): void | Promise<void> {
    const failed = (error: unknown) => void errors.push(errorText(error));
    this.#inListener = true;
    this.#held = undefined;
    try {
      this.#held = pendingOf(listener(event, this.#controller.signal))?.catch(failed);
    } catch (error) {
      failed(error);
    }
    this.#inListener = false;
    return this.#held;
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

function toMessage(input: Input, images: ImageContent[] = []): AgentMessage {
  if (typeof input !== "string") return input;
  const content = images.length > 0 ? [{ type: "text" as const, text: input }, ...images] : input;
  return { role: "user", content, timestamp: Date.now() };
}
