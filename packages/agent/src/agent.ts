import type { ImageContent, StreamFn } from "@tau/llm";
import { declaration } from "@tau/llm/head";
import type { AgentSnapshot, AgentState, InitialState, Suspended } from "./agent-state.ts";
import { initialState, reduce, restoreState, snapshotOf, unused } from "./agent-state.ts";
import type { AgentContext, AgentLoopConfig, Emit, FirstHead, NextTurn, Turn } from "./config.ts";
import { defaultConvertToLlm } from "./convert.ts";
import { GRACE_MS } from "./cutoff.ts";
import type { AgentEvent } from "./events.ts";
import { type AgentListener, Listeners, settlesWithin } from "./listeners.ts";
import { runAgentLoop, runAgentLoopContinue } from "./loop.ts";
import type { AgentMessage } from "./messages.ts";
import type { Incoming, Input, QueuedMessages, QueueMode, QueueSource } from "./queue.ts";
import { incomingOf, MessageQueues } from "./queue.ts";
import { defined, detach } from "./values.ts";

export interface AgentOptions extends Partial<Omit<AgentLoopConfig, "model" | "thinkingLevel" | "queues">> {
  initialState: InitialState;
  streamFn?: StreamFn | undefined;
  steeringMode?: QueueMode;
  followUpMode?: QueueMode;
}

const OWN_WAIT = "A listener would wait for itself here. Elsewhere, when one takes long, await what prompt() gave.";

/** The loop with a state, queues and listeners (laws R, Q, L). */
export class Agent {
  readonly state: AgentState;
  steeringMode: QueueMode;
  followUpMode: QueueMode;
  readonly #options: AgentOptions;
  readonly #now: () => number;
  readonly #queues: MessageQueues;
  readonly #listeners = new Listeners();
  #controller = new AbortController();
  #run: Promise<void> | undefined;
  /** The queues were empty when they were last asked after a turn. */
  #foundEmpty = false;
  /** How many messages were in the queues at the end of the run (Q4). */
  #left = 0;
  #head: FirstHead | undefined;
  #suspended: Suspended | undefined;

  constructor(options: AgentOptions) {
    this.state = initialState(options.initialState);
    this.steeringMode = options.steeringMode ?? "one-at-a-time";
    this.followUpMode = options.followUpMode ?? "one-at-a-time";
    this.#options = options;
    this.#now = () => options.now?.() ?? Date.now();
    this.#queues = new MessageQueues(this.#now);
    this.#head = options.head;
  }

  /**
   * Starts a run with new messages and resolves when it is over; rejects during a run and without a message.
   * A message in the form `{id, message}` enters under its id, like one that was queued.
   */
  async prompt(input: Input | (AgentMessage | Incoming)[], images?: ImageContent[]): Promise<void> {
    await this.#start([input].flat().map((one) => incomingOf(one, this.#now, images)));
  }

  /** Starts a run from the transcript as it is; rejects when there is nothing to continue from. */
  async continue(): Promise<void> {
    await this.#start();
  }

  /**
   * Queues a message that enters before the next request.
   * @returns its id: the one that `{id, message}` brings, or a new one. `message_start` and `message_end` carry it as
   *   `queueId` when the message enters; `clearAllQueues` and `snapshot` name it.
   * @throws TypeError for what is not a message, Error for an id that was given before
   */
  steer(input: Input, images?: ImageContent[]): string {
    return this.#queues.add("steering", this.#queues.accept(input, images));
  }

  /** Queues a message that enters when the agent would stop. Ids are as with `steer`. */
  followUp(input: Input, images?: ImageContent[]): string {
    return this.#queues.add("followUp", this.#queues.accept(input, images));
  }

  /**
   * Stops reply or batch and continues with this message in the same run; starts a run when idle. Resolves with
   * the message's id when that run is over, or at once while the run waits for a listener: the caller may be that one.
   */
  async interrupt(input: Input, images?: ImageContent[]): Promise<string> {
    const accepted = this.#queues.accept(input, images);
    if (this.#run) {
      this.#queues.addInterrupt(accepted);
      this.#controller.abort();
      // Whoever started the run hears of its failure.
      if (!this.#listeners.isCalling && !this.#listeners.awaited) await this.#run.catch(() => undefined);
    } else await this.prompt(accepted);
    return accepted.id;
  }

  /** Ends the run within `limits.abortGraceMs`. Queued messages stay queued. */
  abort(): void {
    if (!this.#run) return;
    this.state.isInterrupted = true;
    this.#queues.forgetInterrupts();
    this.#controller.abort();
  }

  /**
   * Resolves when no run is on. A listener that awaited this would wait for itself: in the call of a listener it
   * rejects at once, and behind a wait of that listener when the run has waited for it another `limits.abortGraceMs`.
   */
  async waitForIdle(): Promise<void> {
    const { isCalling, awaited } = this.#listeners;
    if (isCalling) throw new Error(OWN_WAIT);
    const graceMs = this.#options.limits?.abortGraceMs ?? GRACE_MS;
    if (awaited && !(await settlesWithin(awaited, graceMs))) throw new Error(OWN_WAIT);
    // Whoever started the run hears of its failure.
    await this.#run?.catch(() => undefined);
  }

  /** Awaited for each event, in subscription order; returns the way out. Both hold from the next event. */
  subscribe(listener: AgentListener): () => void {
    return this.#listeners.subscribe(listener);
  }

  /** Forgets the conversation and the queues; prompt, model, tools and listeners stay. */
  reset(): void {
    this.#refuseWhileRunning();
    Object.assign(this.state, { ...unused(), messages: [], errorMessage: undefined });
    this.clearAllQueues();
    this.#head = this.#options.head;
    this.#suspended = undefined;
  }

  /** Plain JSON that `restore` takes, also in the middle of a batch. */
  snapshot(): AgentSnapshot {
    return snapshotOf(this.state, this.#queues.list(), { head: this.#head, suspended: this.#suspended });
  }

  /** Takes over a snapshot; its tools are found by name among the present ones. Open calls are closed by the next run. */
  restore(snapshot: AgentSnapshot): void {
    this.#refuseWhileRunning();
    const own = detach(snapshot);
    restoreState(this.state, own);
    this.#queues.restore(own);
    this.#head = own.head;
    const { isStreaming, streamingMessage, pendingToolCalls, phase } = own;
    this.#suspended = isStreaming ? { isStreaming, streamingMessage, pendingToolCalls, phase } : undefined;
  }

  hasQueuedMessages(): boolean {
    return this.#queues.size > 0;
  }

  /** Empties the queues and gives what was in them, with the ids, so that it can go back to the user. */
  clearAllQueues(): QueuedMessages {
    return this.#queues.clear();
  }

  #refuseWhileRunning(): void {
    if (this.#run) throw new Error("The agent is running: steer() or followUp() adds a message, abort() stops it.");
  }

  async #start(prompts?: Incoming[]): Promise<void> {
    this.#refuseWhileRunning();
    Object.assign(this.state, { isStreaming: true, isInterrupted: false });
    this.#queues.forgetInterrupts();
    this.#run = this.#runAll(prompts).finally(() => {
      this.#run = undefined;
      Object.assign(this.state, { isStreaming: false, streamingMessage: undefined, phase: "idle" });
      this.state.pendingToolCalls.clear();
    });
    await this.#run;
  }

  /** Runs until nothing is left that came too late for the run before (Q4). */
  async #runAll(prompts?: Incoming[]): Promise<void> {
    await this.#runOnce(prompts);
    while (this.#goesOn()) await this.#runOnce();
  }

  async #runOnce(prompts?: Incoming[]): Promise<void> {
    const { state } = this;
    const { streamFn } = this.#options;
    this.#controller = new AbortController();
    Object.assign(state, { errorMessage: undefined, messages: state.messages.slice() });
    const { signal } = this.#controller;
    const emit: Emit = (event) => this.#emit(event);
    if (prompts) await runAgentLoop(prompts, this.#context(), this.#config(), emit, signal, streamFn);
    else await runAgentLoopContinue(this.#context(), this.#config(), emit, signal, streamFn);
  }

  #context(): AgentContext {
    const { systemPrompt, messages, tools } = this.state;
    const context: AgentContext = { messages, tools: [...tools] };
    const isLed = messages[0]?.role === "system";
    if (!isLed) this.#head ??= { systemPrompt, tools: tools.map(declaration) };
    // Beside a prompt that the transcript brings an empty one says nothing.
    if (!isLed || systemPrompt) context.systemPrompt = systemPrompt;
    return context;
  }

  /** Messages came too late for the run that ended, and nothing speaks against sending them. */
  #goesOn(): boolean {
    const isLate = this.#queues.size > (this.#foundEmpty ? 0 : this.#left) && !this.state.errorMessage;
    const goesOn = !this.state.isInterrupted && (isLate || this.#queues.isInterrupted);
    this.#queues.forgetInterrupts(); // from here on they are the first of the steering
    return goesOn;
  }

  #config(): AgentLoopConfig {
    const { convertToLlm = defaultConvertToLlm, startedCalls, ...options } = this.#options;
    const { model, thinkingLevel } = this.state;
    const suspended = this.#suspended?.pendingToolCalls;
    this.#suspended = undefined;
    const known = defined({ head: this.#head, startedCalls: suspended ? new Set(suspended) : startedCalls });
    const own = { convertToLlm, model, thinkingLevel, now: this.#now, queues: this.#source() };
    const prepareNextTurn: AgentLoopConfig["prepareNextTurn"] = (turn, signal) => this.#prepareNextTurn(turn, signal);
    return { ...options, ...known, ...own, prepareNextTurn };
  }

  /** What the next turn works with holds for the runs after this one, too. */
  async #prepareNextTurn(turn: Turn, signal: AbortSignal): Promise<NextTurn | undefined> {
    const next = await this.#options.prepareNextTurn?.(turn, signal);
    if (!next || signal.aborted) return next;
    const { context, ...choice } = next;
    Object.assign(this.state, defined({ ...context, messages: context?.messages.slice() }), defined(choice));
    return next;
  }

  /** The queues as the run sees them, with what the hooks of the options add. */
  #source(): QueueSource {
    const queues = this.#queues;
    return {
      underway: queues.underway,
      take: (from) => this.#take(from),
      giveBack: (taken, from) => queues.giveBack(taken, from),
      takeInterrupt: () => {
        const messages = queues.takeInterrupts();
        if (messages.length === 0) return undefined;
        this.#controller = new AbortController();
        return { messages, signal: this.#controller.signal };
      },
    };
  }

  async #take(from: "steering" | "follow_up"): Promise<Incoming[]> {
    const { getSteeringMessages, getFollowUpMessages } = this.#options;
    const isSteering = from === "steering";
    // The hook comes first: when it fails it takes nothing along (Q4).
    const more = (await (isSteering ? getSteeringMessages?.() : getFollowUpMessages?.())) ?? [];
    const accepted = more.map((message) => this.#queues.accept(message));
    const taken = isSteering
      ? this.#queues.take("steering", this.steeringMode)
      : this.#queues.take("followUp", this.followUpMode);
    this.#foundEmpty = taken.length + accepted.length === 0;
    return [...taken, ...accepted];
  }

  #emit(event: AgentEvent): void | Promise<void> {
    reduce(this.state, event);
    if (event.type === "turn_end") this.#foundEmpty = false;
    if (event.type === "agent_end") this.#left = this.#queues.size;
    return this.#listeners.tell(event, this.#controller.signal);
  }
}
