import type { ErrorKind } from "../protocol/errors.ts";
import type { AssistantMessageEvent } from "../protocol/events.ts";
import type {
  AssistantContent,
  AssistantMessage,
  TextContent,
  ThinkingContent,
  ToolCall,
} from "../protocol/message.ts";
import type { Model } from "../protocol/model.ts";
import { BlockList } from "./block-list.ts";
import { EventStream } from "./event-stream.ts";
import { GrowingText } from "./growing-text.ts";
import { LongMessage, unfinishedMessage } from "./long-message.ts";
import { ToolCallDraft } from "./tool-call-draft.ts";
import { noUsage, priceUsage, type TokenCounts } from "./usage.ts";

/** The stream of one answer with the means to write it; readers get it as `AssistantMessageEventStream`. */
export type AssistantStream = EventStream<AssistantMessageEvent, AssistantMessage>;

/** What is told of a failed request, as the error classification gives it. */
export interface Failure {
  kind: ErrorKind;
  /** One clear line without secrets. */
  message: string;
  details?: { status?: number; code?: string; retryAfterMs?: number };
}

/** A stream whose unread deltas of one block become one delta when the reader is behind. */
export function createAssistantStream(): AssistantStream {
  return new EventStream({ merge: mergeDeltas });
}

/** The message at the start of an answer: no content, no usage. */
export function emptyAssistantMessage(
  model: Pick<Model, "id" | "api" | "provider">,
  timestamp = Date.now(),
): AssistantMessage {
  return {
    role: "assistant",
    content: [],
    api: model.api,
    provider: model.provider,
    model: model.id,
    usage: noUsage(),
    stopReason: "stop",
    timestamp,
  };
}

// A list this short is copied faster than a tree is changed.
const FEW_BLOCKS = 32;

type OpenBlock =
  | { kind: "text"; block: TextContent; text: GrowingText }
  | { kind: "thinking"; block: ThinkingContent; text: GrowingText }
  | { kind: "toolCall"; draft: ToolCallDraft };

/**
 * Builds one answer from block operations of a decoder and writes its events. Blocks may interleave; each
 * operation costs the same however long the message is: texts grow as ropes, and each event carries a new
 * message whose changed block is new and whose other blocks are shared. An operation on a block that is not open is
 * a bug of the decoder and throws.
 */
export class AssistantAssembler {
  readonly #stream: AssistantStream;
  readonly #cost: Model["cost"];
  readonly #open = new Map<number, OpenBlock>();
  /** Number of blocks so far. */
  #count = 0;
  /** The blocks of an answer that has many of them. */
  #many: BlockList | undefined;
  #message: AssistantMessage;
  #started = false;

  constructor(model: Model, stream: AssistantStream) {
    this.#stream = stream;
    this.#cost = model.cost;
    this.#message = emptyAssistantMessage(model);
  }

  /** The message so far. It is never changed: each operation makes a new one. */
  get message(): AssistantMessage {
    return this.#message;
  }

  /** Says how the request is ended when nobody wants the rest of its answer. */
  onCancel(stop: () => void): void {
    this.#stream.onCancel(stop);
  }

  /** Number of blocks so far, ended or not. */
  get blockCount(): number {
    return this.#count;
  }

  /** A block as it is now. */
  blockAt(contentIndex: number): AssistantContent | undefined {
    return this.#many ? this.#many.at(contentIndex) : this.#message.content[contentIndex];
  }

  /** True after `finish` or `fail`; later operations do nothing that a reader sees. */
  get ended(): boolean {
    return !this.#stream.open;
  }

  /** Opens the answer; the other operations do it themselves when they come first. */
  start(responseId?: string): void {
    if (responseId !== undefined && this.#message.responseId === undefined) {
      this.#setHead({ responseId });
    }
    if (this.#started) return;
    this.#started = true;
    this.#stream.push({ type: "start", partial: this.#message });
  }

  /** Opens a text block and gives its content index. */
  openText(signature?: string): number {
    const block: TextContent = { type: "text", text: "" };
    if (signature !== undefined) block.textSignature = signature;
    const contentIndex = this.#append(block, { kind: "text", block, text: new GrowingText() });
    this.#stream.push({ type: "text_start", contentIndex, partial: this.#message });
    return contentIndex;
  }

  textDelta(contentIndex: number, delta: string): void {
    const open = this.#opened(contentIndex, "text");
    open.block = textBlock(open.text.append(delta), open.block);
    this.#replace(contentIndex, open.block);
    this.#stream.push({ type: "text_delta", contentIndex, delta, partial: this.#message });
  }

  /** Opens a thinking block; a redacted one has no text and keeps its payload as signature. */
  openThinking(options: { signature?: string; redacted?: boolean } = {}): number {
    const block: ThinkingContent = { type: "thinking", thinking: "" };
    if (options.signature !== undefined) block.thinkingSignature = options.signature;
    if (options.redacted) block.redacted = true;
    const contentIndex = this.#append(block, { kind: "thinking", block, text: new GrowingText() });
    this.#stream.push({ type: "thinking_start", contentIndex, partial: this.#message });
    return contentIndex;
  }

  thinkingDelta(contentIndex: number, delta: string): void {
    const open = this.#opened(contentIndex, "thinking");
    open.block = thinkingBlock(open.text.append(delta), open.block);
    this.#replace(contentIndex, open.block);
    this.#stream.push({ type: "thinking_delta", contentIndex, delta, partial: this.#message });
  }

  /** Sets the signature of a text or thinking block, ended or not; seen from the next event on. */
  setSignature(contentIndex: number, signature: string): void {
    const open = this.#open.get(contentIndex);
    const block = open && open.kind !== "toolCall" ? open.block : this.blockAt(contentIndex);
    if (block?.type === "thinking") this.#replaceOpen(contentIndex, { ...block, thinkingSignature: signature });
    else if (block?.type === "text") this.#replaceOpen(contentIndex, { ...block, textSignature: signature });
    else throw new Error(`Block ${contentIndex} can take no signature`);
  }

  /** Opens a tool call; `id` and `name` are known by now. */
  openToolCall(call: { id: string; name: string; thoughtSignature?: string }): number {
    const draft = new ToolCallDraft(call);
    const contentIndex = this.#append(draft.block(), { kind: "toolCall", draft });
    this.#stream.push({ type: "toolcall_start", contentIndex, id: call.id, name: call.name, partial: this.#message });
    return contentIndex;
  }

  argumentsDelta(contentIndex: number, delta: string): void {
    const { draft } = this.#opened(contentIndex, "toolCall");
    draft.append(delta);
    this.#replace(contentIndex, draft.block());
    this.#stream.push({ type: "toolcall_delta", contentIndex, delta, partial: this.#message });
  }

  /** The argument text of an open call so far. */
  argumentsOf(contentIndex: number): string {
    return this.#opened(contentIndex, "toolCall").draft.text;
  }

  /** Puts a text in the place of the arguments that arrived; seen at the end of the call. */
  replaceArguments(contentIndex: number, text: string): void {
    this.#opened(contentIndex, "toolCall").draft.replace(text);
  }

  /** Marks an open call whose arguments are known to be cut: it ends with `invalidArguments` and this reason. */
  refuseArguments(contentIndex: number, error: string): void {
    this.#opened(contentIndex, "toolCall").draft.refuse(error);
  }

  /** Ends a block. Of a tool call the arguments are judged by now; a bad text leaves `invalidArguments`. */
  closeBlock(contentIndex: number): void {
    const open = this.#open.get(contentIndex);
    if (!open) throw new Error(`Block ${contentIndex} is not open`);
    this.#open.delete(contentIndex);
    if (open.kind === "toolCall") this.#closeToolCall(contentIndex, open.draft.finish());
    else if (open.kind === "text") {
      this.#stream.push({ type: "text_end", contentIndex, content: open.block.text, partial: this.#message });
    } else {
      this.#stream.push({ type: "thinking_end", contentIndex, content: open.block.thinking, partial: this.#message });
    }
  }

  /** Ends all open blocks in the order of their indices. */
  closeAll(): void {
    for (const contentIndex of [...this.#open.keys()].sort((a, b) => a - b)) this.closeBlock(contentIndex);
  }

  /** Tokens so far; the last call counts. */
  setUsage(tokens: TokenCounts): void {
    this.#setHead({ usage: priceUsage(tokens, this.#cost) });
  }

  /** Ends the answer well. The caller says `toolUse` by the vendor's word; a `stop` with calls is one as well. */
  finish(reason: "stop" | "length" | "toolUse"): void {
    this.start();
    this.closeAll();
    const calls = this.#message.content.some((block) => block.type === "toolCall");
    const stopReason = reason === "length" ? "length" : calls ? "toolUse" : "stop";
    const message: AssistantMessage = { ...this.#message, stopReason };
    this.#message = message;
    this.#stream.push({ type: "done", reason: stopReason, message });
    this.#stream.end(message);
  }

  /** Ends the answer with a failure; what had arrived is kept. An abort overtakes deltas that wait. */
  fail(failure: Failure): void {
    if (this.ended) return;
    const aborted = failure.kind === "aborted";
    if (aborted) this.#stream.discard((event) => event.type.endsWith("_delta"));
    this.start();
    this.closeAll();
    const reason = aborted ? "aborted" : "error";
    const error: AssistantMessage = {
      ...this.#message,
      stopReason: reason,
      errorMessage: failure.message,
      errorKind: failure.kind,
      ...(failure.details && Object.keys(failure.details).length > 0 ? { errorDetails: failure.details } : {}),
    };
    this.#message = error;
    this.#stream.push({ type: "error", reason, error });
    this.#stream.end(error);
  }

  #closeToolCall(contentIndex: number, toolCall: ToolCall): void {
    this.#replace(contentIndex, toolCall);
    this.#stream.push({ type: "toolcall_end", contentIndex, toolCall, partial: this.#message });
  }

  #append(block: AssistantContent, open: OpenBlock): number {
    this.start();
    const contentIndex = this.#count;
    this.#count += 1;
    this.#replace(contentIndex, block);
    this.#open.set(contentIndex, open);
    return contentIndex;
  }

  /** Puts a block into its place, which may be the next one. */
  #replace(contentIndex: number, block: AssistantContent): void {
    if (this.#count > FEW_BLOCKS) {
      this.#many = (this.#many ?? BlockList.of(this.#message.content)).with(contentIndex, block);
      this.#message = new LongMessage(this.#message, this.#many);
      return;
    }
    const content = this.#message.content.slice();
    content[contentIndex] = block;
    this.#message = unfinishedMessage(this.#message, content);
  }

  #setHead(fields: Partial<Pick<AssistantMessage, "usage" | "responseId">>): void {
    if (!this.#many) this.#message = { ...this.#message, ...fields };
    else this.#message = new LongMessage({ ...unfinishedMessage(this.#message, []), ...fields }, this.#many);
  }

  #replaceOpen(contentIndex: number, block: TextContent | ThinkingContent): void {
    const open = this.#open.get(contentIndex);
    if (open && open.kind !== "toolCall") open.block = block;
    this.#replace(contentIndex, block);
  }

  #opened<Kind extends OpenBlock["kind"]>(contentIndex: number, kind: Kind): Extract<OpenBlock, { kind: Kind }> {
    const open = this.#open.get(contentIndex);
    if (open && isKind(open, kind)) return open;
    throw new Error(`Block ${contentIndex} is not an open ${kind} block`);
  }
}

// Object literals instead of spreads: a delta then costs a third, and an answer has tens of thousands of them.

function textBlock(text: string, { textSignature }: TextContent): TextContent {
  const block: TextContent = { type: "text", text };
  if (textSignature !== undefined) block.textSignature = textSignature;
  return block;
}

function thinkingBlock(thinking: string, { thinkingSignature, redacted }: ThinkingContent): ThinkingContent {
  const block: ThinkingContent = { type: "thinking", thinking };
  if (thinkingSignature !== undefined) block.thinkingSignature = thinkingSignature;
  if (redacted !== undefined) block.redacted = redacted;
  return block;
}

function isKind<Kind extends OpenBlock["kind"]>(
  open: OpenBlock,
  kind: Kind,
): open is Extract<OpenBlock, { kind: Kind }> {
  return open.kind === kind;
}

/** Two deltas of one block as one; undefined for anything else. */
function mergeDeltas(previous: AssistantMessageEvent, next: AssistantMessageEvent): AssistantMessageEvent | undefined {
  if (previous.type !== next.type || !("delta" in previous) || !("delta" in next)) return undefined;
  if (previous.contentIndex !== next.contentIndex) return undefined;
  return { ...next, delta: previous.delta + next.delta };
}
