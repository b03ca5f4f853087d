import { classifyEvent, type ErrorOrigin } from "../../errors/classify.ts";
import type { Tool } from "../../protocol/tool.ts";
import type { AssistantAssembler, Failure } from "../../stream/assembler.ts";
import { isRecord } from "../../stream/json.ts";
import { parseFrame, type SseFrame } from "../../stream/sse.ts";
import { StreamError } from "../../stream/stream-error.ts";
import type { Decoder } from "../exchange.ts";
import { type Ending, endingOf, wholeEndingOf } from "./ending.ts";
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

/** An answer without a single token that hit the limit: the prompt left no room (R116). */
const NO_ROOM: Failure = {
  kind: "overflow",
  message: "The model had no room to answer: the prompt fills its context window",
};

/** Reads the events of a response into block operations, tolerant of what compatible servers make of them. */
export class ResponsesDecoder implements Decoder {
  readonly #assembler: AssistantAssembler;
  readonly #origin: ErrorOrigin;
  readonly #items: OutputItems;
  #outputTokens = 0;
  #state: Decoder["state"] = "open";

  constructor({ assembler, origin, tools }: DecoderOptions) {
    this.#assembler = assembler;
    this.#origin = origin;
    this.#items = new OutputItems(assembler, tools);
  }

  get state(): Decoder["state"] {
    return this.#state;
  }

  frame({ event, data }: SseFrame): void {
    const text = data.trim();
    if (text === "" || text === "[DONE]") return;
    const value = event === "error" && !text.startsWith("{") ? data : parseFrame(data);
    // A keep-alive of some servers.
    if (value === null) return;
    if (isRecord(value)) this.#event(value, event);
    else this.#fail(value);
  }

  whole(value: unknown): void {
    // Some gateways wrap it as the last event of a stream does.
    const response = isRecord(value) && isRecord(value.response) ? value.response : value;
    if (!isRecord(response) || (!Array.isArray(response.output) && !response.status)) {
      this.#fail(value);
      return;
    }
    this.#end(response, wholeEndingOf(response, this.#origin));
  }

  end(): void {
    if (this.#assembler.ended) return;
    this.#state = "done";
    throw new StreamError("early_end", "The answer ended before it was whole: no response.completed came");
  }

  #event(value: Json, name: string | undefined): void {
    const type = typeof value.type === "string" ? value.type : (name ?? "");
    const apply = itemEvent(type);
    if (apply) apply(this.#items, value);
    else if (LAST_EVENTS.includes(type)) this.#last(value, type);
    else if (type === "error" || type === "response.error" || value.error) this.#fail(value);
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

  #end(response: Json, ending: Ending): void {
    this.#state = "done";
    this.#begin(response);
    const usage = usageOf(response.usage);
    if (usage) {
      this.#outputTokens = usage.output;
      this.#assembler.setUsage(usage);
    }
    this.#items.finish(response.output);
    if ("failure" in ending) this.#assembler.fail(ending.failure);
    else if (ending.end === "length" && this.#isEmpty()) this.#assembler.fail(NO_ROOM);
    else this.#assembler.finish(ending.end);
  }

  #isEmpty(): boolean {
    return this.#assembler.message.content.length === 0 && this.#outputTokens === 0;
  }

  #fail(value: unknown): void {
    this.#state = "done";
    this.#assembler.fail(classifyEvent(value, this.#origin));
  }
}
