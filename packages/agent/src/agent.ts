import type { AssistantMessage, ImageContent, Model, StreamFn, ThinkingLevel, Tool } from "@tau/llm";
import type { AgentContext, AgentLoopConfig, Emit, Head, NextTurn } from "./config.ts";
import { defaultConvertToLlm } from "./convert.ts";
import type { AgentEvent } from "./events.ts";
import { declaration } from "./head.ts";
import { runAgentLoop, runAgentLoopContinue } from "./loop.ts";
import type { AgentMessage } from "./messages.ts";
import { MessageQueue, type QueueMode, userMessage } from "./queue.ts";
import { type AgentSnapshot, newTally, type Suspended, type Tally, tallied } from "./snapshot.ts";
import type { AgentTool } from "./tool.ts";
import { detach, errorText } from "./values.ts";

/** Assignable; what is changed during a run holds from the next one (law B9). */
export interface AgentState {
  systemPrompt: string;
  model: Model;
  thinkingLevel: ThinkingLevel;
  tools: AgentTool[];
  messages: AgentMessage[];
  isStreaming: boolean;
  streamingMessage?: AssistantMessage | undefined;
  /** Ids of the calls that are running. */
  pendingToolCalls: Set<string>;
  errorMessage?: string | undefined;
}

export interface AgentOptions extends Partial<Omit<AgentLoopConfig, "model" | "thinkingLevel">> {
  initialState: Partial<Pick<AgentState, "systemPrompt" | "thinkingLevel" | "tools" | "messages">> & { model: Model };
  streamFn?: StreamFn | undefined;
  steeringMode?: QueueMode;
  followUpMode?: QueueMode;
}

export type AgentListener = (event: AgentEvent, signal: AbortSignal) => void | Promise<void>;
type Input = string | AgentMessage | AgentMessage[];
type Start = (context: AgentContext, config: AgentLoopConfig, emit: Emit, signal: AbortSignal) => Promise<unknown>;

/** The loop with a state, queues and listeners (laws R, Q, L). */
export class Agent {
  readonly state: AgentState;
  readonly #options: AgentOptions;
  readonly #steering: MessageQueue;
  readonly #followUp: MessageQueue;
  readonly #interrupts = new MessageQueue("all");
  #listeners: readonly { call: AgentListener }[] = [];
  #controller = new AbortController();
  #run: Promise<void> | undefined;
  #aborted = false;
  /** Nothing more was to do when the run ended, or a message came while it did: queued messages start another one (Q4). */
  #open = false;
  #ending = false;
  #inListener = false;
  /** The listener that is being awaited. */
  #held: Promise<void> | undefined;
  #head: Head | undefined;
  #tally: Tally = newTally();
  #suspended: Suspended | undefined;

  constructor(options: AgentOptions) {
    const { initialState, steeringMode, followUpMode, head } = options;
    this.#options = options;
    this.#steering = new MessageQueue(steeringMode);
    this.#followUp = new MessageQueue(followUpMode);
    this.#head = head;
    this.state = {
      systemPrompt: "",
      thinkingLevel: "off",
      ...initialState,
      tools: [...(initialState.tools ?? [])],
      messages: [...(initialState.messages ?? [])],
      isStreaming: false,
      pendingToolCalls: new Set(),
    };
  }

  get steeringMode(): QueueMode {
    return this.#steering.mode;
  }

  set steeringMode(mode: QueueMode) {
    this.#steering.mode = mode;
  }

  get followUpMode(): QueueMode {
    return this.#followUp.mode;
  }

  set followUpMode(mode: QueueMode) {
    this.#followUp.mode = mode;
  }

  /** Starts a run with new messages and resolves when it is over (law R1); rejects during a run and without a message. */
  async prompt(input: Input, images?: ImageContent[]): Promise<void> {
    const messages = toMessages(input, images);
    await this.#start((...run) => runAgentLoop(messages, ...run, this.#options.streamFn));
  }

  /** Starts a run from the transcript as it is (law R2); rejects when there is nothing to go on from. */
  async continue(): Promise<void> {
    await this.#start((...run) => runAgentLoopContinue(...run, this.#options.streamFn));
  }

  /** Queues a message that enters before the next request (Q1). */
  steer(input: string | AgentMessage, images?: ImageContent[]): void {
    this.#enqueue(this.#steering, input, images);
  }

  /** Queues a message that enters when the agent would stop (Q3). */
  followUp(input: string | AgentMessage, images?: ImageContent[]): void {
    this.#enqueue(this.#followUp, input, images);
  }

  /** Stops reply or batch and goes on with this message in the same run (R10); starts one when idle. */
  interrupt(input: string | AgentMessage, images?: ImageContent[]): Promise<void> {
    if (!this.#run) return this.prompt(toMessages(input, images));
    this.#enqueue(this.#interrupts, input, images);
    this.#controller.abort();
    if (this.#inListener) return Promise.resolve();
    const idle = this.waitForIdle();
    idle.catch(() => undefined); // nobody has to wait for it
    return idle;
  }

  /** Ends the run within `limits.abortGraceMs` (R8). Queued messages stay queued (Q5). */
  abort(): void {
    if (!this.#run) return;
    this.#aborted = true;
    this.#steering.putBack(this.#interrupts.clear());
    this.#controller.abort();
  }

  /** Resolves when no run is on; rejects for a listener that would wait for itself, at the latest after the grace (L4). */
  async waitForIdle(): Promise<void> {
    const stuck = new Error("waitForIdle() inside a listener would wait for itself.");
    if (this.#inListener) throw stuck;
    const idle = this.#run?.catch(() => undefined);
    const held = this.#held;
    if (!idle || !held) return idle;
    // Perhaps the listener that is awaited asks: then it does not end before this promise does.
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(stuck), this.#options.limits?.abortGraceMs ?? 1000);
      void held.then(() => clearTimeout(timer));
      void idle.then(resolve);
    });
  }

  /** Awaited for each event, in subscription order; returns the way out. Both hold from the next event (L1, L4). */
  subscribe(listener: AgentListener): () => void {
    const entry = { call: listener };
    this.#listeners = [...this.#listeners, entry];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== entry);
    };
  }

  /** Forgets the conversation and the queues; prompt, model, tools and listeners stay. */
  reset(): void {
    this.#refuseWhileRunning();
    Object.assign(this.state, { messages: [], errorMessage: undefined });
    this.clearAllQueues();
    this.#head = this.#options.head;
    this.#suspended = undefined;
    this.#tally = newTally();
  }

  /** Plain JSON that `restore` takes, also in the middle of a batch (R7). */
  snapshot(): AgentSnapshot {
    const { tools, pendingToolCalls, ...state } = this.state;
    return detach({
      ...state,
      tools: tools.map((tool) => ({ ...declaration(tool), label: tool.label })),
      pendingToolCalls: [...pendingToolCalls],
      steering: [...this.#interrupts.items, ...this.#steering.items],
      followUp: this.#followUp.items,
      ...(this.#head && { head: this.#head }),
      ...this.#tally,
      ...this.#suspended,
    });
  }

  /** Takes over a snapshot; tools are found by name among the present ones. Open calls are closed by the next run (C9). */
  restore(snapshot: AgentSnapshot): void {
    this.#refuseWhileRunning();
    const { steering, followUp, head, tools, isStreaming, streamingMessage, pendingToolCalls, phase, ...rest } =
      detach(snapshot);
    const { systemPrompt, model, thinkingLevel, messages, errorMessage, ...tally } = rest;
    const own = new Map(this.state.tools.map((tool) => [tool.name, tool]));
    const found = tools.map((tool) => own.get(tool.name) ?? lostTool(tool));
    Object.assign(this.state, { systemPrompt, model, thinkingLevel, messages, errorMessage, tools: found });
    this.clearAllQueues();
    this.#steering.putBack(steering);
    this.#followUp.putBack(followUp);
    this.#head = head;
    this.#tally = { ...tally, phase };
    this.#suspended = isStreaming
      ? { isStreaming, phase, pendingToolCalls, ...(streamingMessage && { streamingMessage }) }
      : undefined;
  }

  hasQueuedMessages(): boolean {
    return [this.#interrupts, this.#steering, this.#followUp].some(({ items }) => items.length > 0);
  }

  /** Empties the queues and gives what was in them, so that it can go back to the user (Q5). */
  clearAllQueues(): { steering: AgentMessage[]; followUp: AgentMessage[] } {
    return { steering: [...this.#interrupts.clear(), ...this.#steering.clear()], followUp: this.#followUp.clear() };
  }

  #refuseWhileRunning(): void {
    if (this.#run)
      throw new Error("The agent is running: use steer() or followUp() to add a message, abort() to stop it.");
  }

  #enqueue(queue: MessageQueue, input: string | AgentMessage, images: ImageContent[] | undefined): void {
    queue.items.push(...toMessages(input, images));
    this.#open ||= this.#ending;
  }

  async #start(first: Start): Promise<void> {
    this.#refuseWhileRunning();
    this.#run = this.#runAll(first).finally(() => {
      this.#run = undefined;
      Object.assign(this.state, { isStreaming: false, streamingMessage: undefined });
      this.state.pendingToolCalls.clear();
      this.#tally.phase = "idle";
    });
    await this.#run;
  }

  /** Runs until nothing is left that came too late for the run before (Q4). */
  async #runAll(first: Start): Promise<void> {
    const { state } = this;
    state.isStreaming = true;
    this.#aborted = false;
    for (let start: Start | undefined = first; start; start = this.#following()) {
      this.#controller = new AbortController();
      this.#ending = false;
      this.#open = false;
      this.#tally.isInterrupted = false;
      state.errorMessage = undefined;
      state.messages = state.messages.slice();
      const { systemPrompt, messages, tools } = state;
      const led = messages[0]?.role === "system";
      if (!led) this.#head ??= { systemPrompt, tools: tools.map(declaration) };
      // Beside a prompt that the transcript brings an empty one says nothing.
      const context = { messages, tools: [...tools], ...((!led || systemPrompt) && { systemPrompt }) };
      await start(context, this.#config(), (event) => this.#emit(event), this.#controller.signal);
    }
    this.#tally.isInterrupted = this.#aborted;
  }

  #following(): Start | undefined {
    if (this.#aborted) return undefined;
    const interrupts = this.#interrupts.clear();
    if (interrupts.length > 0) return (...run) => runAgentLoop(interrupts, ...run, this.#options.streamFn);
    const wanted = this.#open && !this.state.errorMessage && this.hasQueuedMessages();
    return wanted ? (...run) => runAgentLoopContinue(...run, this.#options.streamFn) : undefined;
  }

  #config(): AgentLoopConfig {
    const { initialState: _initial, streamFn: _stream, steeringMode: _s, followUpMode: _f, ...options } = this.#options;
    const { model, thinkingLevel } = this.state;
    const started = this.#suspended?.pendingToolCalls;
    this.#suspended = undefined;
    return {
      convertToLlm: defaultConvertToLlm,
      ...options,
      model,
      thinkingLevel,
      ...(this.#head && { head: this.#head }),
      ...(started && { startedCalls: new Set(started) }),
      getSteeringMessages: async () => [...this.#steering.take(), ...((await options.getSteeringMessages?.()) ?? [])],
      getFollowUpMessages: async () => {
        const messages = [...this.#followUp.take(), ...((await options.getFollowUpMessages?.()) ?? [])];
        this.#open = messages.length === 0;
        return messages;
      },
      returnMessages: (messages, from) => (from === "follow_up" ? this.#followUp : this.#steering).putBack(messages),
      takeInterrupt: () => {
        if (this.#interrupts.items.length === 0) return undefined;
        this.#controller = new AbortController();
        return { messages: this.#interrupts.clear(), signal: this.#controller.signal };
      },
      prepareNextTurn: async (turn, signal) => {
        const next = await options.prepareNextTurn?.(turn, signal);
        if (next && !signal.aborted) this.#adopt(next);
        return next;
      },
    };
  }

  /** What the next turn works with holds for the runs after this one, too. */
  #adopt({ context, model, thinkingLevel }: NextTurn): void {
    const { messages, systemPrompt, tools } = context ?? {};
    const changes = { messages: messages?.slice(), systemPrompt, tools, model, thinkingLevel };
    for (const [name, value] of Object.entries(changes))
      if (value !== undefined) Object.assign(this.state, { [name]: value });
  }

  #emit(event: AgentEvent): void | Promise<void> {
    reduce(this.state, event);
    tallied(this.#tally, event);
    if (event.type === "turn_start") this.#open = false;
    if (event.type === "agent_end") this.#ending = true;
    const listeners = this.#listeners;
    const errors: string[] = [];
    const from = (index: number): void | Promise<void> => {
      for (let at = index; at < listeners.length; at++) {
        const pending = this.#call(listeners[at]?.call, event, errors);
        if (pending) return pending.then(() => from(at + 1));
      }
      // The loop tells all listeners of it (L3).
      if (errors.length > 0) throw new Error(errors.join("; "));
    };
    return from(0);
  }

  /** One listener: its failure is noted, not thrown. */
  #call(listener: AgentListener | undefined, event: AgentEvent, errors: string[]): Promise<void> | undefined {
    const failed = (error: unknown) => void errors.push(errorText(error));
    this.#inListener = true;
    try {
      const pending = listener?.(event, this.#controller.signal);
      if (!pending) return undefined;
      const held = Promise.resolve(pending).catch(failed);
      this.#held = held.then(() => {
        this.#held = undefined;
      });
      return this.#held;
    } catch (error) {
      failed(error);
      return undefined;
    } finally {
      this.#inListener = false;
    }
  }
}

/** What an event does to the state; before listeners see it (L1). */
function reduce(state: AgentState, event: AgentEvent): void {
  switch (event.type) {
    case "message_start":
    case "message_update":
      if (event.message.role === "assistant") state.streamingMessage = event.message;
      return;
    case "message_end":
      state.messages.push(event.message);
      if (event.message.role === "assistant") state.streamingMessage = undefined;
      return;
    case "tool_execution_start":
      state.pendingToolCalls.add(event.toolCallId);
      return;
    case "tool_execution_end":
      state.pendingToolCalls.delete(event.toolCallId);
      return;
    case "turn_end":
      if (/^(error|aborted)$/.test(event.message.stopReason))
        state.errorMessage = event.message.errorMessage ?? "unknown";
      return;
    default:
  }
}

function toMessages(input: Input, images?: ImageContent[]): AgentMessage[] {
  if (typeof input === "string") return [userMessage(input, images)];
  return Array.isArray(input) ? input : [input];
}

/** Stands for a tool of a snapshot that is not there any more. */
function lostTool(tool: Tool & { label: string }): AgentTool {
  return { ...tool, execute: () => Promise.reject(new Error(`The tool ${tool.name} is not available any more.`)) };
}
