import type { ErrorOrigin } from "../../errors/classify.ts";
import type { Tool } from "../../protocol/tool.ts";
import type { AssistantAssembler } from "../../stream/assembler.ts";
import { isRecord } from "../../stream/json.ts";
import type { SseFrame } from "../../stream/sse.ts";
import { StreamError } from "../../stream/stream-error.ts";
import { type Decoder, PATIENCE } from "../exchange.ts";
import { CallNames } from "../reply/call-names.ts";
import { errorIn } from "../reply/error-value.ts";
import { readFrame } from "../reply/frame-reading.ts";
import { endReply, failReply, type ReplyEnd } from "../reply/reply-end.ts";
import { ReplyText } from "../reply/reply-text.ts";
import { endingOf, wholeEndingOf } from "./ending.ts";
import { itemEvent } from "./item-events.ts";
import { OutputItems } from "./output-items.ts";
import { usageOf } from "./usage.ts";

export interface DecoderOptions {
  assembler: AssistantAssembler;
  origin: ErrorOrigin;
  /** The tools of the request, by whose own names the calls are told. */
  tools: readonly Tool[];
}

type Json = Record<string, unknown>;

/** The events that end a response. */
const LAST_EVENTS = ["response.completed", "response.incomplete", "response.failed", "response.cancelled"];
/** Fields that only an event of this API has. */
const EVENT_FIELDS = ["response", "item", "delta", "output_index"];
const STATUSES = ["completed", "incomplete", "failed", "cancelled", "in_progress", "queued"];
const KEEP_ALIVES = ["ping", "keepalive", "response.ping", "response.keepalive"];

/** Reads the events of a response into block operations, tolerant of what compatible servers make of them. */
export class ResponsesDecoder implements Decoder {
  readonly patienceMs: number = PATIENCE.early;
  readonly #assembler: AssistantAssembler;
  readonly #origin: ErrorOrigin;
  readonly #texts: ReplyText;
  readonly #items: OutputItems;
  #outputTokens = 0;
  #done = false;

  constructor({ assembler, origin, tools }: DecoderOptions) {
    this.#assembler = assembler;
    this.#origin = origin;
    const names = new CallNames(tools, "call_");
    this.#texts = new ReplyText(assembler, names);
    this.#items = new OutputItems({ assembler, names, texts: this.#texts });
  }

  /** With all items done the answer may be whole: some servers forget the last event (R206). */
  get state(): Decoder["state"] {
    if (this.#done) return "done";
    return this.#items.allDone ? "resting" : "open";
  }

  frame(frame: SseFrame): boolean {
    const reading = readFrame(frame);
    if (reading.type === "error") this.#fail(reading.value);
    if (reading.type !== "event") return false;
    const { value, name } = reading;
    const type = typeof value.type === "string" ? value.type : (name ?? "");
    this.#event(value, type);
    return !KEEP_ALIVES.includes(type);
  }

  whole(value: unknown): void {
    // Some gateways wrap it as the last event of a stream does.
    const response = isRecord(value) && isRecord(value.response) ? value.response : value;
    // A bare error may have a status as well, which is a number.
    const isResponse = isRecord(response) && (Array.isArray(response.output) || isStatus(response.status));
    if (!isResponse) {
      this.#fail(value);
      return;
    }
    this.#end(response, wholeEndingOf(response, this.#origin));
  }

  end(): void {
    if (this.#assembler.ended) return;
    const whole = this.#items.allDone;
    this.#done = true;
    if (!whole) throw new StreamError("early_end", "The answer ended before it was whole: no response.completed came");
    endReply(this.#assembler, this.#texts.finish({ end: "stop" }), this.#outputTokens);
  }

  cut(): void {
    this.#texts.cut();
    this.#items.finish(undefined);
  }

  #event(value: Json, type: string): void {
    const apply = itemEvent(type);
    if (apply) apply(this.#items, value);
    else if (LAST_EVENTS.includes(type)) this.#last(value, type);
    else if (isFailure(value, type)) this.#fail(value);
    else if (isRecord(value.response)) this.#begin(value.response);
  }

  #begin({ id }: Json): void {
    this.#assembler.start(typeof id === "string" && id !== "" ? id : undefined);
  }

  #last(event: Json, type: string): void {
    // Without a response the event itself may hold what matters.
    const response = isRecord(event.response) ? event.response : event;
    this.#end(response, endingOf(response, type, this.#origin));
  }

  #end(response: Json, ending: ReplyEnd): void {
    this.#done = true;
    this.#begin(response);
    const usage = usageOf(response.usage);
    if (usage) {
      this.#outputTokens = usage.output;
      this.#assembler.setUsage(usage);
    }
    if ("failure" in ending) this.#texts.cut();
    this.#items.finish(response.output);
    endReply(this.#assembler, this.#texts.finish(ending), this.#outputTokens);
  }

  #fail(value: unknown): void {
    this.#done = true;
    this.cut();
    failReply(this.#assembler, value, this.#origin);
  }
}

function isFailure(value: Json, type: string): boolean {
  if (type === "response.error") return true;
  // An event of the API speaks of an error only in its own field.
  return type.startsWith("response.") ? Boolean(value.error) : errorIn(value, EVENT_FIELDS) !== undefined;
}

function isStatus(status: unknown): boolean {
  return typeof status === "string" && STATUSES.includes(status);
}
