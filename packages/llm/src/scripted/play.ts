import type { AssistantMessageEvent, AssistantMessageEventStream, WireEvent } from "../protocol/events.ts";
import type { AssistantMessage } from "../protocol/message.ts";
import { emptyAssistantMessage } from "../stream/assembler.ts";
import { EventStream } from "../stream/event-stream.ts";
import { foldWireEvent } from "../stream/fold.ts";
import { type ReplyPlace, replyEvents, type ScriptReply } from "./reply.ts";

/**
 * Plays one reply as a stream of events. Faults, in the order of how far they get:
 * `throw` throws here, `reject` gives a rejecting promise, `never_start` ends without any event, `hang` gives no
 * event and does not end, `throw_midway` and `hang_midway` do so after half of the events, `end_without_done`
 * gives all events but the last. Unless `ignoreAbort` is set, an abort ends each of them with an `aborted` error event.
 */
export function playReply(
  source: ScriptReply,
  place: ReplyPlace,
  signal?: AbortSignal,
): AssistantMessageEventStream | Promise<AssistantMessageEventStream> {
  if (source.fault === "throw") throw new Error("scripted fault: streamFn threw");
  if (source.fault === "reject") return Promise.reject(new Error("scripted fault: streamFn rejected"));
  const player = new Player(source, place, source.ignoreAbort ? undefined : signal);
  void player.run();
  return player.stream;
}

const NOTHING = new Promise<never>(() => undefined);
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Runs by itself, as a network does, with at least one micro-task between two events. */
class Player {
  readonly stream = new EventStream<AssistantMessageEvent, AssistantMessage>();
  readonly #source: ScriptReply;
  readonly #place: ReplyPlace;
  readonly #signal: AbortSignal | undefined;
  readonly #aborted: Promise<void>;
  #cut: () => void = () => undefined;
  #partial: AssistantMessage;

  constructor(source: ScriptReply, place: ReplyPlace, signal: AbortSignal | undefined) {
    this.#source = source;
    this.#place = place;
    this.#partial = emptyAssistantMessage(place.model, place.timestamp);
    this.#signal = signal;
    this.#aborted = new Promise((resolve) => {
      this.#cut = resolve;
    });
  }

  /** Listens to the signal only while it plays: all requests of a run share one. */
  async run(): Promise<void> {
    this.#signal?.addEventListener("abort", this.#cut, { once: true });
    try {
      await this.#play();
    } finally {
      this.#signal?.removeEventListener("abort", this.#cut);
    }
  }

  async #play(): Promise<void> {
    const { gate, fault, delayMs } = this.#source;
    const events = [...replyEvents(this.#source, this.#place)];
    if (!(await this.#wait(gate))) return this.#abort();
    for (const event of events.slice(0, eventLimit(fault, events.length))) {
      if (!(await this.#wait(delayMs ? pause(delayMs) : undefined))) return this.#abort();
      this.#push(event);
    }
    if (fault === "throw_midway") this.stream.fail(new Error("scripted fault: the stream threw"));
    else if ((fault === "hang" || fault === "hang_midway") && !(await this.#wait(NOTHING))) this.#abort();
    else this.stream.end();
  }

  #push(event: WireEvent): void {
    if (event.type === "done" || event.type === "error") {
      this.stream.push(event);
      this.stream.end(event.type === "done" ? event.message : event.error);
      return;
    }
    this.#partial = foldWireEvent(this.#partial, event);
    this.stream.push({ ...event, partial: this.#partial });
  }

  #abort(): void {
    const told = { stopReason: "aborted", errorMessage: "Request was aborted", errorKind: "aborted" } as const;
    this.#push({ type: "error", reason: "aborted", error: { ...this.#partial, ...told } });
  }

  /** Waits for `until`, at least one micro-task. False when the request was aborted. */
  async #wait(until: Promise<unknown> | undefined): Promise<boolean> {
    const signal = this.#signal;
    if (!until || signal?.aborted) await undefined;
    else if (signal) await Promise.race([until, this.#aborted]);
    else await until;
    return !signal?.aborted;
  }
}

function eventLimit(fault: ScriptReply["fault"], count: number): number {
  if (fault === "never_start" || fault === "hang") return 0;
  if (fault === "throw_midway" || fault === "hang_midway") return Math.ceil(count / 2);
  return fault === "end_without_done" ? count - 1 : count;
}
