import type { AssistantMessageEvent, AssistantMessageEventStream, WireEvent } from "../protocol/events.ts";
import type { AssistantMessage } from "../protocol/message.ts";
import { GrowingMessage } from "./growing-message.ts";
import { type ReplyPlace, replyEvents, replyMessage, type ScriptReply } from "./reply.ts";

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
  return new PlayedStream(source, replyMessage(source, place), source.ignoreAbort ? undefined : signal);
}

const NOTHING = new Promise<never>(() => undefined);

/** A stream that runs by itself, as a network does, at the pace of its reader's turns of the micro-task queue. */
class PlayedStream implements AssistantMessageEventStream {
  readonly #events: AssistantMessageEvent[] = [];
  readonly #signal: AbortSignal | undefined;
  readonly #aborted: Promise<void>;
  readonly #result: Promise<AssistantMessage>;
  #wake: () => void = () => undefined;
  #over = false;
  #failure: Error | undefined;

  constructor(source: ScriptReply, message: AssistantMessage, signal: AbortSignal | undefined) {
    this.#signal = signal;
    this.#aborted = new Promise((resolve) => signal?.addEventListener("abort", () => resolve(), { once: true }));
    this.#result = this.#run(source, message);
    // A reader that only iterates must not be punished for a result nobody asked for.
    this.#result.catch(() => undefined);
  }

  result(): Promise<AssistantMessage> {
    return this.#result;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<AssistantMessageEvent> {
    for (let next = 0; ; ) {
      const event = this.#events[next];
      if (event) {
        next++;
        yield event;
      } else if (this.#over) {
        if (this.#failure) throw this.#failure;
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  async #run(source: ScriptReply, message: AssistantMessage): Promise<AssistantMessage> {
    const growing = new GrowingMessage(message);
    try {
      const end = await this.#play(source, message, growing);
      if (end) return end;
      throw new Error("scripted fault: the stream ended without a final message");
    } finally {
      this.#over = true;
      this.#wake();
    }
  }

  async #play(source: ScriptReply, message: AssistantMessage, growing: GrowingMessage) {
    const events = [...replyEvents(source, message)];
    const limit = eventLimit(source, events.length);
    if (!(await this.#wait(source.gate))) return this.#abort(growing);
    let final: AssistantMessage | undefined;
    for (const event of events.slice(0, limit)) {
      if (!(await this.#wait(source.delayMs ? pause(source.delayMs) : undefined))) return this.#abort(growing);
      growing.apply(event);
      final = this.#push(event, growing) ?? final;
    }
    if (source.fault === "throw_midway") {
      this.#failure = new Error("scripted fault: the stream threw");
      throw this.#failure;
    }
    if (source.fault?.startsWith("hang") && !(await this.#wait(NOTHING))) return this.#abort(growing);
    return final;
  }

  #push(event: WireEvent, growing: GrowingMessage): AssistantMessage | undefined {
    const ends = event.type === "done" || event.type === "error";
    this.#events.push(ends ? event : { ...event, partial: growing.snapshot() });
    this.#wake();
    if (!ends) return undefined;
    return event.type === "done" ? event.message : event.error;
  }

  #abort(growing: GrowingMessage): AssistantMessage {
    const error = growing.aborted();
    this.#push({ type: "error", reason: "aborted", error }, growing);
    return error;
  }

  /** Waits for `until`, at least one micro-task. False when the request was aborted. */
  async #wait(until: Promise<unknown> | undefined): Promise<boolean> {
    const signal = this.#signal;
    if (!signal) {
      await until;
      return true;
    }
    if (until && !signal.aborted) await Promise.race([until, this.#aborted]);
    else await undefined;
    return !signal.aborted;
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

function eventLimit(source: ScriptReply, count: number): number {
  switch (source.fault) {
    case "never_start":
    case "hang":
      return 0;
    case "throw_midway":
    case "hang_midway":
      return Math.ceil(count / 2);
    case "end_without_done":
      return count - 1;
    default:
      return count;
  }
}
