import type { AssistantMessage, AssistantMessageEventStream, Context, StreamFn } from "@tau/llm";
import { declaration } from "@tau/llm/head";
import { type BatchEnd, copyOf, failed, resultMessage, runBatch } from "./call.ts";
import type { AgentContext, AgentLoopConfig, Emit, FirstHead, RunArguments, Turn } from "./config.ts";
import type { LimitName } from "./events.ts";
import type { AgentMessage } from "./messages.ts";
import { hookQueues, type Incoming, incomingOf, type QueueSource } from "./queue.ts";
import { CallIds, callsOf, hasText, PairRepair } from "./repair.ts";
import { RepeatedCalls } from "./repetition.ts";
import { replacementOf } from "./replacement.ts";
import { ReplyReader } from "./reply.ts";
import { ABORTED, type Ending, failure, soundReply } from "./sound-reply.ts";
import { Told } from "./told.ts";
import { attempt, defined, detach, errorText } from "./values.ts";
import { CUT, Cutoff, serialEmit, tick } from "./waiting.ts";

/** A turn to take: after messages that enter first, a poll for steering, or with a reply that needs no model. */
type Step = { incoming: readonly Incoming[]; poll?: boolean; ending?: Ending };
type End = { end: LimitName | "done" };
type TurnEnd = BatchEnd & { message: AssistantMessage };

const DONE: End = { end: "done" };
const LIMIT_TEXTS: Record<LimitName, string> = {
  maxTurns: "the largest number of turns is reached",
  maxConsecutiveLengthStops: "the replies were cut off at the output limit again and again",
  maxIdenticalCalls: "the same call gave the same result again and again",
  maxCallsPerMessage: "one message had more tool calls than are allowed",
};
let defaultStreamFn: StreamFn | undefined;

/** Installs the `streamFn` of all runs that are given none (law B4). */
export function setDefaultStreamFn(streamFn: StreamFn | undefined): void {
  defaultStreamFn = streamFn;
}

/**
 * Runs the agent from new messages until it stops (laws R, T). Resolves with all messages of the run, also when the
 * model, a tool or a hook fails: messages and events tell that. `emit` is awaited for each event, one at a time.
 * @throws Error when there are no prompts or no `streamFn`, TypeError for a prompt that is no message
 */
export async function runAgentLoop(
  prompts: (AgentMessage | Incoming)[],
  ...given: RunArguments
): Promise<AgentMessage[]> {
  if (prompts.length === 0) throw new Error("A run needs at least one message; `continue` goes on without one.");
  return drive(given, () => ({ incoming: prompts.map((prompt) => incomingOf(prompt)), poll: true }));
}

/**
 * Goes on from the transcript without a new message (law R2).
 * @throws Error when the transcript is empty, or ends with a complete answer and no queue has a message
 */
export async function runAgentLoopContinue(...given: RunArguments): Promise<AgentMessage[]> {
  return drive(given, async (run) => {
    // A change of the prompt behind an answer asks for no further one.
    const last = run.context.messages.findLast(({ role }) => role !== "system");
    if (last && (last.role !== "assistant" || callsOf(last).length > 0)) return { incoming: [], poll: true };
    const incoming = last ? await run.pollQueues() : [];
    if (incoming.length > 0) return { incoming };
    throw new Error(`There is nothing to continue: ${last ? "no message is queued" : "the transcript is empty"}.`);
  });
}

async function drive(given: RunArguments, first: (run: Run) => Step | Promise<Step>): Promise<AgentMessage[]> {
  const run = new Run(given);
  try {
    return await run.drive(await first(run));
  } finally {
    run.cutoff.close();
  }
}

/** One run, and what its parts share. */
export class Run {
  /** As `prepareNextTurn` left it. */
  config: AgentLoopConfig;
  /** The run's own copies (B9); messages are appended here. */
  context: AgentContext;
  /** Another one after an interrupt (R10). */
  cutoff: Cutoff;
  ids: CallIds;
  /** Never fails; see `serialEmit`. */
  readonly emit: Emit;
  readonly repeated = new RepeatedCalls();
  readonly #repair = new PairRepair();
  readonly #streamFn: StreamFn;
  /** All messages of this run (T4). */
  readonly #added: AgentMessage[] = [];
  /** Messages on their way from a queue to the transcript, and the queue that they can go back to (Q4). */
  readonly #queues: QueueSource;
  /** What each request begins with; empty when the transcript begins with a system message (B8). */
  readonly #head: FirstHead;
  #told: Told;
  #turns = 0;
  #lengthStops = 0;
  #emptyReplies = 0;

  constructor([context, config, emit, signal, streamFn = defaultStreamFn]: RunArguments) {
    if (!streamFn) throw new Error("No model to ask: pass a streamFn or install one with setDefaultStreamFn.");
    const { systemPrompt, tools } = config.head ?? context;
    const led = context.messages[0]?.role === "system";
    this.#head = led ? {} : defined({ systemPrompt, tools: tools?.map(declaration) });
    this.#streamFn = streamFn;
    this.config = config;
    this.#queues = config.queues ?? hookQueues(config);
    this.context = copyOf(context);
    this.cutoff = new Cutoff(signal ?? new AbortController().signal, config.limits?.abortGraceMs);
    this.emit = serialEmit(emit);
    this.ids = new CallIds(this.context.messages);
    this.#told = new Told(this.#head, this.context.messages);
  }

  /** From first to last: one start, one end, whatever happens between (law T4). */
  async drive(first: Step): Promise<AgentMessage[]> {
    let { end } = DONE;
    await tick(); // the caller has the run in hand before its first event
    await this.emit({ type: "agent_start" });
    try {
      const told = [...this.#openResults(), ...this.#announce()];
      const incoming = [...told.map((message) => ({ message })), ...first.incoming];
      let next: Step | End = { ...first, incoming };
      while ("incoming" in next) next = await this.#decide(await this.#takeTurn(next));
      end = next.end;
    } catch (error) {
      // A hook between two turns failed: the run ends with that as with a failed request.
      await this.#takeTurn({ incoming: [], ending: failure(error) });
    }
    this.#giveBack();
    for (const item of this.#queues.underway.keys()) await this.append(item);
    if (end !== "done") await this.#notice(`The run was stopped: ${LIMIT_TEXTS[end]} (${end}).`);
    await this.emit({ type: "agent_end", messages: this.#added, ...(end !== "done" && { limit: end }) });
    return this.#added;
  }

  /** Steering first, then follow-ups (Q3). */
  async pollQueues(): Promise<readonly Incoming[]> {
    const steering = await this.#poll("steering");
    return steering.length > 0 ? steering : this.#poll("follow_up");
  }

  async #poll(from: "steering" | "follow_up"): Promise<readonly Incoming[]> {
    // What comes when the run has gone on already must not be lost (Q4).
    const late = (taken: readonly Incoming[]) => this.#queues.giveBack?.(taken, from);
    const polled = await this.cutoff.race(() => this.#queues.take(from), "abort", late);
    const taken = polled === CUT ? [] : polled;
    for (const item of taken) this.#queues.underway.set(item, from);
    return taken;
  }

  /** Results of calls that an earlier run left open (law C9). */
  #openResults(): AgentMessage[] {
    const { messages } = this.context;
    const { startedCalls: started } = this.config;
    const tail = messages.slice(messages.findLastIndex(({ role }) => role !== "toolResult"));
    const answered = new Set(tail.map((message) => message.role === "toolResult" && message.toolCallId));
    const open = tail.flatMap(callsOf).filter(({ id }) => !answered.has(id));
    return open.map((call) => {
      const text = started && !started.has(call.id) ? "It was never started." : "It may have run in part.";
      return resultMessage(call, failed(`The session was interrupted before this call had a result. ${text}`));
    });
  }

  /**
   * Puts a message into the transcript; gives the one that stands there (X6).
   * @param shown its start was shown already
   */
  async append<T extends AgentMessage>(item: Incoming<T>, shown = false): Promise<T> {
    const from = item.id === undefined ? {} : { queueId: item.id };
    if (!shown) await this.emit({ type: "message_start", message: item.message, ...from });
    const message = await this.#replaced(item.message);
    this.#queues.underway.delete(item);
    this.context.messages.push(message);
    this.#added.push(message);
    this.#told.tell(message);
    await this.emit({ type: "message_end", message, ...from });
    return message;
  }

  async #replaced<T extends AgentMessage>(message: T): Promise<T> {
    const hook = this.config.beforeMessageEnd;
    if (!hook) return message;
    try {
      const given = await this.cutoff.race(() => hook(detach(message), this.cutoff.signal), "grace");
      return given === CUT || given === undefined ? message : replacementOf(this, message, given);
    } catch (error) {
      await this.emit({ type: "listener_error", event: "message_end", error: errorText(error) });
      return message;
    }
  }

  /** Something the user, and later the model, should know about the run. */
  #notice(content: string): Promise<unknown> {
    const notice = { customType: "tau.notice", content, display: true, timestamp: Date.now() };
    return this.append({ message: { role: "custom", ...notice } });
  }

  /** One turn (laws T1, T2). */
  async #takeTurn({ incoming, poll = false, ending }: Step): Promise<TurnEnd> {
    await tick();
    await this.emit({ type: "turn_start" });
    await this.#enter(incoming);
    const message = await this.append({ message: await this.#reply(poll, ending) }, true);
    const end = await runBatch(this, message);
    await this.emit({ type: "turn_end", message, toolResults: end.toolResults });
    this.#turns++;
    return { ...end, message };
  }

  /** Puts messages into the transcript. After an abort queued ones go back instead (Q4, Q5). */
  async #enter(incoming: readonly Incoming[]): Promise<void> {
    const { underway, giveBack } = this.#queues;
    const back = (item: Incoming) => this.cutoff.aborted && giveBack && underway.has(item);
    for (const item of incoming) if (!back(item)) await this.append(item);
    this.#giveBack();
  }

  /** With no way back what is underway stays so, and enters the transcript at the end. */
  #giveBack(): void {
    const { underway } = this.#queues;
    if (!this.#queues.giveBack) return;
    for (const [item, from] of [...underway].reverse()) attempt(() => this.#queues.giveBack?.([item], from));
    underway.clear();
  }

  /** The model's reply (law B3), or one that says why there is none. Its start has been shown. */
  async #reply(poll: boolean, ending?: Ending): Promise<AssistantMessage> {
    const reader = new ReplyReader(this);
    const read = async () => {
      if (poll) await this.#enter(await this.#poll("steering"));
      // After an abort the model is not asked (R9).
      const stream = ending ?? (await this.cutoff.race(() => this.#openStream(), "abort"));
      return stream === CUT ? ABORTED : "stopReason" in stream ? stream : reader.read(stream);
    };
    const message = soundReply(this, await read().catch(failure), reader.draft.ids);
    if (!reader.started) await this.emit({ type: "message_start", message });
    return message;
  }

  async #openStream(): Promise<AssistantMessageEventStream | Ending> {
    const { config, context } = this;
    const { signal } = this.cutoff;
    const { headers, temperature, maxTokens, thinkingLevel = "off", sessionId, timeouts, network, onWarning } = config;
    // The transform may change what it gets (B6).
    const messages = (await config.transformContext?.(detach(context.messages), signal)) ?? context.messages.slice();
    const converted = await config.convertToLlm(messages);
    // The head stays as it was at the session's start (law O3), unless `convertToLlm` keeps later changes from the model.
    const sent = !this.#told.changed || converted.some(({ role }) => role === "system");
    const head = sent ? this.#head : this.#told.head;
    const request: Context = { ...head, messages: this.#repair.repair(converted) };
    const apiKey = (await config.getApiKey?.(config.model)) ?? config.apiKey;
    const place = { apiKey, headers, sessionId, timeouts, network, onWarning, signal };
    const options = defined({ ...place, temperature, maxTokens, thinkingLevel });
    // No request after an abort, however late a hook comes back (R9).
    return signal.aborted ? ABORTED : this.#streamFn(config.model, request, options);
  }

  /** Every way a run can go on or end (laws T5, T6, T8). */
  async #decide(end: TurnEnd): Promise<Step | End> {
    const { config, cutoff } = this;
    const { message, toolResults } = end;
    if (cutoff.aborted) return this.#afterAbort(message);
    if (message.stopReason === "error" || message.stopReason === "aborted") return DONE;
    const turn: Turn = { message, toolResults, context: copyOf(this.context) };
    const stop = await cutoff.race(() => config.shouldStopAfterTurn?.(turn), "abort");
    if (stop === CUT) return this.#afterAbort(message);
    if (stop) return DONE;
    const limit = this.#limit(end);
    if (limit) return { end: limit };
    const poll = this.#goesOn(end);
    const incoming = poll ? [] : await this.pollQueues();
    if (cutoff.aborted) return this.#afterAbort(message);
    if (!poll && incoming.length === 0) {
      if (message.stopReason === "length" && message.errorMessage) await this.#notice(message.errorMessage);
      if (this.#emptyReplies > 1) await this.#notice("There is no answer: the model gave an empty reply again.");
      return DONE;
    }
    if (this.#turns < (config.limits?.maxTurns ?? Number.POSITIVE_INFINITY)) {
      const told = (await this.#prepare(turn)).map((message) => ({ message }));
      return { incoming: [...told, ...incoming], poll };
    }
    return { end: "maxTurns" };
  }

  /** With an interrupt the run goes on with its message (R10); else it ends with an aborted reply (R9). */
  #afterAbort(message: AssistantMessage): Step | End {
    this.#giveBack();
    const interrupt = this.#queues.takeInterrupt?.();
    if (!interrupt) return message.stopReason === "aborted" ? DONE : { incoming: [] };
    this.cutoff.close();
    this.cutoff = new Cutoff(interrupt.signal, this.config.limits?.abortGraceMs);
    for (const item of interrupt.messages) this.#queues.underway.set(item, "interrupt");
    return { incoming: interrupt.messages };
  }

  #limit(end: TurnEnd): LimitName | undefined {
    const limits = this.config.limits ?? {};
    const cutOff = isCutOff(end);
    this.#lengthStops = cutOff ? this.#lengthStops + 1 : 0;
    if (cutOff && this.#lengthStops >= (limits.maxConsecutiveLengthStops ?? 3)) return "maxConsecutiveLengthStops";
    if (end.repeats >= (limits.maxIdenticalCalls ?? 20)) return "maxIdenticalCalls";
    return end.toolResults.length > (limits.maxCallsPerMessage ?? Number.POSITIVE_INFINITY)
      ? "maxCallsPerMessage"
      : undefined;
  }

  /** Whether the model is asked again without a new message; a retry invents none (R3). */
  #goesOn(end: TurnEnd): boolean {
    const said = end.toolResults.length > 0 || isCutOff(end);
    this.#emptyReplies = said || hasText(end.message) ? 0 : this.#emptyReplies + 1;
    const retried = this.#emptyReplies > 0 && this.#emptyReplies <= (this.config.limits?.maxEmptyRetries ?? 1);
    return said ? !end.terminate : retried;
  }

  /** Lets `prepareNextTurn` change what the next turn works with; gives the message that announces it (B8, B9). */
  async #prepare(turn: Turn): Promise<AgentMessage[]> {
    const next = await this.cutoff.race(() => this.config.prepareNextTurn?.(turn, this.cutoff.signal), "abort");
    if (!next || next === CUT) return [];
    const { context, ...choice } = next;
    this.config = { ...this.config, ...defined(choice) };
    if (!context) return [];
    this.context = copyOf(context);
    this.ids = new CallIds(this.context.messages);
    this.#told = new Told(context.messages[0]?.role === "system" ? {} : this.#head, context.messages);
    return this.#announce();
  }

  /** What the model has to be told before the next request (B8). */
  #announce(): AgentMessage[] {
    const change = this.#told.change(this.context, Date.now());
    return change ? [change] : [];
  }
}

const isCutOff = ({ message, toolResults }: TurnEnd) =>
  message.stopReason === "length" && (toolResults.length > 0 || !hasText(message));
