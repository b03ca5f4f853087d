import type { AssistantMessage } from "@tau/llm";
import { isBrokenReply } from "./broken-reply.ts";
import { hasText } from "./calls.ts";
import type { Turn } from "./config.ts";
import { CUT } from "./cutoff.ts";
import type { LimitName } from "./events.ts";
import type { Incoming } from "./queue.ts";
import { copyContext, type RunContext } from "./run-context.ts";
import type { Ending } from "./sound-reply.ts";
import type { BatchEnd } from "./tool-batch.ts";
import { notice, pollQueues, returnUnderway } from "./transcript.ts";
import { defined } from "./values.ts";

/** A turn to take: after messages that enter first, a poll for steering, or with a reply that needs no model. */
export type Step = { incoming: readonly Incoming[]; poll?: boolean; ending?: Ending };
/** The run ends, by a limit or because nothing is left to do. */
export type End = { end: LimitName | "done" };
export type TurnEnd = BatchEnd & { message: AssistantMessage };

export const DONE: End = { end: "done" };

/** Decides after each turn how the run continues or ends (laws T5, T6, T8). */
export class Course {
  readonly #run: RunContext;
  #turns = 0;
  #lengthStops = 0;
  #emptyReplies = 0;

  constructor(run: RunContext) {
    this.#run = run;
  }

  /** Every way a run can continue or end after a turn. */
  async next(end: TurnEnd): Promise<Step | End> {
    const { cutoff } = this.#run;
    const { message, toolResults } = end;
    this.#turns++;
    if (cutoff.signal.aborted) return this.#afterAbort(message);
    if (isBrokenReply(message)) return DONE;
    const turn: Turn = { message, toolResults, context: copyContext(this.#run.context) };
    const stop = await cutoff.race(() => this.#run.config.shouldStopAfterTurn?.(turn), "abort");
    if (stop === CUT) return this.#afterAbort(message);
    if (stop) return DONE;
    const limit = this.#limit(end);
    if (limit) return { end: limit };
    const poll = this.#asksAgain(end);
    const incoming = poll ? [] : await pollQueues(this.#run);
    if (cutoff.signal.aborted) return this.#afterAbort(message);
    if (!poll && incoming.length === 0) return this.#stop(message);
    if (this.#turns >= (this.#run.config.limits?.maxTurns ?? Infinity)) return { end: "maxTurns" };
    const told = await this.#prepare(turn);
    return { incoming: [...told, ...incoming], poll };
  }

  /** With an interrupt the run continues with its message (R10); else it ends with an aborted reply (R9). */
  #afterAbort(message: AssistantMessage): Step | End {
    const { queues } = this.#run;
    returnUnderway(this.#run);
    const interrupt = queues.takeInterrupt?.();
    if (!interrupt) return message.stopReason === "aborted" ? DONE : { incoming: [] };
    this.#run.useSignal(interrupt.signal);
    for (const item of interrupt.messages) queues.underway.set(item, "interrupt");
    return { incoming: interrupt.messages };
  }

  async #stop(message: AssistantMessage): Promise<End> {
    if (message.stopReason === "length" && message.errorMessage) await notice(this.#run, message.errorMessage);
    if (this.#emptyReplies > 1) await notice(this.#run, "There is no answer: the model gave an empty reply again.");
    return DONE;
  }

  #limit(end: TurnEnd): LimitName | undefined {
    const limits = this.#run.config.limits ?? {};
    this.#lengthStops = isCutOff(end) ? this.#lengthStops + 1 : 0;
    const mostStops = limits.maxConsecutiveLengthStops ?? 3;
    if (this.#lengthStops > 0 && this.#lengthStops >= mostStops) return "maxConsecutiveLengthStops";
    if (end.repeats >= (limits.maxIdenticalCalls ?? 20)) return "maxIdenticalCalls";
    if (end.toolResults.length > (limits.maxCallsPerMessage ?? Infinity)) return "maxCallsPerMessage";
    return undefined;
  }

  /** Whether the model is asked again without a new message; a retry invents none (R3). */
  #asksAgain(end: TurnEnd): boolean {
    if (end.toolResults.length > 0 || isCutOff(end)) {
      this.#emptyReplies = 0;
      return !end.terminate;
    }
    this.#emptyReplies = hasText(end.message) ? 0 : this.#emptyReplies + 1;
    return this.#emptyReplies > 0 && this.#emptyReplies <= (this.#run.config.limits?.maxEmptyRetries ?? 1);
  }

  /** Lets `prepareNextTurn` change what the next turn works with; gives the message that announces it (B8, B9). */
  async #prepare(turn: Turn): Promise<Incoming[]> {
    const { config, cutoff } = this.#run;
    const next = await cutoff.race(() => config.prepareNextTurn?.(turn, cutoff.signal), "abort");
    if (!next || next === CUT) return [];
    const { context, ...choice } = next;
    this.#run.config = { ...config, ...defined(choice) };
    if (!context) return [];
    this.#run.useContext(context);
    return this.#run.announcement().map((message) => ({ message }));
  }
}

/** The reply was cut off at the output limit before it said anything that counts. */
function isCutOff({ message, toolResults }: TurnEnd): boolean {
  return message.stopReason === "length" && (toolResults.length > 0 || !hasText(message));
}
