import { classifyEvent, type ErrorOrigin } from "../../errors/classify.ts";
import type { Tool } from "../../protocol/tool.ts";
import type { AssistantAssembler, Failure } from "../../stream/assembler.ts";
import { isRecord } from "../../stream/json.ts";
import { parseFrame, type SseFrame } from "../../stream/sse.ts";
import { StreamError } from "../../stream/stream-error.ts";
import { type TokenCounts, tokenCount } from "../../stream/usage.ts";
import type { Decoder } from "../exchange.ts";
import { ownToolName } from "../history/wire-names.ts";

export interface DecoderOptions {
  assembler: AssistantAssembler;
  origin: ErrorOrigin;
  /** The tools of the request, to give calls back their own names. */
  tools: readonly Tool[];
}

type Json = Record<string, unknown>;
type End = "stop" | "length" | "toolUse";

/** An answer without a single block that hit the limit: the prompt left no room (R116). */
const NO_ROOM: Failure = {
  kind: "overflow",
  message: "The model had no room to answer: the prompt fills its context window",
};

const REFUSED: Failure = { kind: "content_filter", message: "The model refused to answer this conversation" };

/** What the API's words for the end of an answer mean; a word that is not here is a stop. */
const STOP_REASONS: Record<string, End | Failure> = {
  end_turn: "stop",
  stop_sequence: "stop",
  // A long-running turn of server-side tools; what it had is an answer.
  pause_turn: "stop",
  tool_use: "toolUse",
  max_tokens: "length",
  model_context_window_exceeded: { kind: "overflow", message: "The context window of the model is full" },
  refusal: REFUSED,
  sensitive: REFUSED,
};

/** A content block of the answer. Blocks of kinds that nobody knows have no place and their deltas are passed over. */
interface OpenBlock {
  kind: "text" | "thinking" | "toolCall" | "unknown";
  contentIndex: number;
  /** Input of a call that came with its start; counts only when no deltas follow. */
  input: string;
  filled: boolean;
}

/** Reads the events of a Messages stream into block operations. */
export class MessagesDecoder implements Decoder {
  readonly #assembler: AssistantAssembler;
  readonly #origin: ErrorOrigin;
  readonly #tools: readonly Tool[];
  readonly #blocks = new Map<unknown, OpenBlock>();
  readonly #usedIds = new Set<string>();
  #usage: TokenCounts = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  #stop: string | undefined;
  #state: Decoder["state"] = "open";

  constructor({ assembler, origin, tools }: DecoderOptions) {
    this.#assembler = assembler;
    this.#origin = origin;
    this.#tools = tools;
  }

  get state(): Decoder["state"] {
    return this.#state;
  }

  frame({ event, data }: SseFrame): void {
    if (data.trim() === "" || data.trim() === "[DONE]") return;
    if (event === "error") {
      this.#fail(data);
      return;
    }
    const value = parseFrame(data);
    // A keep-alive of some servers.
    if (value === null) return;
    if (!isRecord(value)) this.#fail(value);
    else this.#event(value, event);
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
    throw new StreamError("early_end", "The answer ended before it was whole: no message_stop came");
  }

  #event(value: Json, name: string | undefined): void {
    const type = typeof value.type === "string" ? value.type : name;
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
      default:
        if (type === "error" || isRecord(value.error)) this.#fail(value);
    }
  }

  #begin({ id, usage }: Json): void {
    this.#assembler.start(typeof id === "string" && id !== "" ? id : undefined);
    this.#count(usage);
  }

  #openBlock(index: unknown, block: Json): void {
    const open: OpenBlock = { kind: "unknown", contentIndex: -1, input: "", filled: false };
    this.#blocks.set(index, open);
    if (block.type === "text") {
      Object.assign(open, { kind: "text", contentIndex: this.#assembler.openText() });
      this.#delta(index, { type: "text_delta", text: block.text });
    } else if (block.type === "thinking") {
      Object.assign(open, { kind: "thinking", contentIndex: this.#assembler.openThinking() });
      this.#delta(index, { type: "thinking_delta", thinking: block.thinking });
      this.#delta(index, { type: "signature_delta", signature: block.signature });
    } else if (block.type === "redacted_thinking" && typeof block.data === "string") {
      const contentIndex = this.#assembler.openThinking({ signature: block.data, redacted: true });
      Object.assign(open, { kind: "thinking", contentIndex });
    } else if (block.type === "tool_use") {
      const contentIndex = this.#assembler.openToolCall({
        id: this.#callId(block.id),
        name: this.#toolName(block.name),
      });
      Object.assign(open, { kind: "toolCall", contentIndex, input: inputText(block.input) });
    }
  }

  #delta(index: unknown, delta: Json): void {
    const open = this.#blocks.get(index) ?? this.#openMissing(index, delta);
    if (!open) return;
    const { contentIndex } = open;
    if (open.kind === "text" && isFilled(delta.text)) this.#assembler.textDelta(contentIndex, delta.text);
    if (open.kind === "thinking" && isFilled(delta.thinking))
      this.#assembler.thinkingDelta(contentIndex, delta.thinking);
    if (open.kind === "thinking" && isFilled(delta.signature)) {
      const before = this.#assembler.signatureOf(contentIndex) ?? "";
      this.#assembler.setSignature(contentIndex, before + delta.signature);
    }
    if (open.kind === "toolCall" && isFilled(delta.partial_json)) {
      open.filled = true;
      this.#assembler.argumentsDelta(contentIndex, delta.partial_json);
    }
  }

  /** Some compatible servers send text and thinking without announcing the block. */
  #openMissing(index: unknown, delta: Json): OpenBlock | undefined {
    const type = delta.type === "text_delta" ? "text" : delta.type === "thinking_delta" ? "thinking" : undefined;
    if (type === undefined) return undefined;
    this.#openBlock(index, { type });
    return this.#blocks.get(index);
  }

  #closeBlock(index: unknown): void {
    const open = this.#blocks.get(index);
    this.#blocks.delete(index);
    if (!open || open.kind === "unknown") return;
    if (open.kind === "toolCall" && !open.filled && open.input !== "") {
      this.#assembler.argumentsDelta(open.contentIndex, open.input);
    }
    this.#assembler.closeBlock(open.contentIndex);
  }

  #note(delta: Json, usage: unknown): void {
    if (isFilled(delta.stop_reason)) this.#stop = delta.stop_reason;
    this.#count(usage);
  }

  /** Counts are totals so far, and `input` of this API is without the cached tokens (R034); a proxy may send either event with zeros. */
  #count(usage: unknown): void {
    if (!isRecord(usage)) return;
    const { input, output, cacheRead, cacheWrite } = this.#usage;
    this.#usage = {
      input: larger(input, usage.input_tokens),
      output: larger(output, usage.output_tokens),
      cacheRead: larger(cacheRead, usage.cache_read_input_tokens),
      cacheWrite: larger(cacheWrite, usage.cache_creation_input_tokens),
    };
    this.#assembler.setUsage(this.#usage);
  }

  #finish(): void {
    this.#state = "done";
    for (const index of [...this.#blocks.keys()]) this.#closeBlock(index);
    const end = STOP_REASONS[this.#stop ?? "end_turn"] ?? "stop";
    const empty = this.#assembler.message.content.length === 0;
    if (typeof end !== "string") this.#assembler.fail(end);
    else if (end === "length" && empty) this.#assembler.fail(NO_ROOM);
    else this.#assembler.finish(end);
  }

  #fail(value: unknown): void {
    this.#state = "done";
    this.#assembler.fail(classifyEvent(value, this.#origin));
  }

  /** Calls without an id, or with one that was there already, get one of ours (R026). */
  #callId(given: unknown): string {
    const id = isFilled(given) && !this.#usedIds.has(given) ? given : newId();
    this.#usedIds.add(id);
    return id;
  }

  #toolName(name: unknown): string {
    return ownToolName(typeof name === "string" ? name : "", this.#tools);
  }
}

const isFilled = (value: unknown): value is string => typeof value === "string" && value !== "";

function inputText(input: unknown): string {
  if (typeof input === "string") return input;
  return isRecord(input) && Object.keys(input).length > 0 ? JSON.stringify(input) : "";
}

function larger(known: number, value: unknown): number {
  return Math.max(known, tokenCount(value) ?? 0);
}

function newId(): string {
  const part = () => Math.random().toString(36).slice(2, 12).padEnd(10, "0");
  return `toolu_${part()}${part()}`;
}
