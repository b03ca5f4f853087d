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
import { endReply, failReply } from "../reply/reply-end.ts";
import { ReplyText } from "../reply/reply-text.ts";
import { type ContentBlock, openContentBlock } from "./content-block.ts";
import { MessagesUsage } from "./reported-usage.ts";
import { stopReasonOf } from "./stop-reason.ts";

export interface DecoderOptions {
  assembler: AssistantAssembler;
  origin: ErrorOrigin;
  /** The tools of the request, to give calls back their own names. */
  tools: readonly Tool[];
}

type Json = Record<string, unknown>;

/** Fields that only an event of this API has. */
const EVENT_FIELDS = ["delta", "content_block", "index"];

/** Kinds of blocks whose deltas some compatible servers send without announcing the block. */
const UNANNOUNCED: Readonly<Record<string, string>> = { text_delta: "text", thinking_delta: "thinking" };

/** Reads the events of a Messages stream into block operations. */
export class MessagesDecoder implements Decoder {
  readonly #assembler: AssistantAssembler;
  readonly #origin: ErrorOrigin;
  readonly #names: CallNames;
  readonly #texts: ReplyText;
  /** Open blocks; undefined for one of a kind that nobody knows. */
  readonly #blocks = new Map<unknown, ContentBlock | undefined>();
  readonly #usage: MessagesUsage;
  #stop: string | undefined;
  #state: Decoder["state"] = "open";
  #patienceMs: number = PATIENCE.early;

  constructor({ assembler, origin, tools }: DecoderOptions) {
    this.#assembler = assembler;
    this.#origin = origin;
    this.#names = new CallNames(tools, "toolu_");
    this.#texts = new ReplyText(assembler, this.#names);
    this.#usage = new MessagesUsage(assembler);
  }

  get state(): Decoder["state"] {
    return this.#state;
  }

  get patienceMs(): number {
    return this.#patienceMs;
  }

  frame(frame: SseFrame): boolean {
    const reading = readFrame(frame);
    if (reading.type === "error") this.#fail(reading.value);
    if (reading.type !== "event") return false;
    const { value, name } = reading;
    const type = typeof value.type === "string" ? value.type : name;
    if (type === "ping") return false;
    this.#event(value, type);
    return true;
  }

  whole(value: unknown): void {
    if (!isRecord(value) || !Array.isArray(value.content)) {
      this.#fail(value);
      return;
    }
    this.#begin(value);
    for (const [index, block] of value.content.entries()) {
      this.#openBlock(index, isRecord(block) ? block : {});
      this.#closeBlock(index);
    }
    this.#note(value, value.usage);
    this.#finish();
  }

  end(): void {
    if (this.#assembler.ended) return;
    this.#state = "done";
    // With its stop reason an answer is whole: some servers forget the event behind it (R206).
    if (this.#stop !== undefined) this.#finish();
    else throw new StreamError("early_end", "The answer ended before it was whole: no message_stop came");
  }

  cut(): void {
    this.#texts.cut();
    for (const index of [...this.#blocks.keys()]) this.#closeBlock(index);
  }

  #event(value: Json, type: string | undefined): void {
    switch (type) {
      case "message_start":
        this.#begin(isRecord(value.message) ? value.message : {});
        break;
      case "content_block_start":
        this.#openBlock(value.index, isRecord(value.content_block) ? value.content_block : {});
        break;
      case "content_block_delta":
        if (isRecord(value.delta)) this.#delta(value.index, value.delta);
        break;
      case "content_block_stop":
        this.#closeBlock(value.index);
        break;
      case "message_delta":
        this.#note(isRecord(value.delta) ? value.delta : {}, value.usage);
        break;
      case "message_stop":
        this.#finish();
        break;
      default: {
        const error = errorIn(value, EVENT_FIELDS);
        if (error !== undefined) this.#fail(error);
      }
    }
  }

  #begin({ id, usage }: Json): void {
    this.#assembler.start(typeof id === "string" && id !== "" ? id : undefined);
    this.#usage.report(usage);
  }

  #openBlock(index: unknown, content: Json): void {
    // A second start of one index is the next block.
    this.#closeBlock(index);
    const parts = { assembler: this.#assembler, names: this.#names, texts: this.#texts };
    this.#blocks.set(index, openContentBlock(content, parts));
  }

  #delta(index: unknown, delta: Json): void {
    if (!this.#blocks.has(index)) {
      const type = typeof delta.type === "string" ? delta.type : "";
      const kind = Object.hasOwn(UNANNOUNCED, type) ? UNANNOUNCED[type] : undefined;
      if (kind === undefined) return;
      this.#openBlock(index, { type: kind });
    }
    this.#blocks.get(index)?.delta(delta);
  }

  #closeBlock(index: unknown): void {
    const block = this.#blocks.get(index);
    this.#blocks.delete(index);
    block?.close();
  }

  #note(delta: Json, usage: unknown): void {
    this.#usage.report(usage);
    if (typeof delta.stop_reason !== "string" || delta.stop_reason === "") return;
    this.#stop = delta.stop_reason;
    if (this.#state === "open") this.#state = "finished";
    // In its place behind the blocks, only message_stop is missing (R207).
    const inPlace = this.#blocks.size === 0 && this.#assembler.blockCount > 0;
    this.#patienceMs = inPlace ? PATIENCE.closing : PATIENCE.early;
  }

  #finish(): void {
    this.#state = "done";
    for (const index of [...this.#blocks.keys()]) this.#closeBlock(index);
    const end = stopReasonOf(this.#stop);
    // This API counts a token before there is one.
    endReply(this.#assembler, this.#texts.finish(end), 0);
  }

  #fail(value: unknown): void {
    this.#state = "done";
    this.cut();
    failReply(this.#assembler, value, this.#origin);
  }
}
