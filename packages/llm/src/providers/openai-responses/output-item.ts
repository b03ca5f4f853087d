import type { AssistantAssembler } from "../../stream/assembler.ts";
import { GrowingText } from "../../stream/growing-text.ts";
import { isRecord } from "../../stream/json.ts";
import type { ReplyText, TextBlock } from "../reply/reply-text.ts";
import type { CallItem } from "./call-item.ts";
import type { Item, ItemParts } from "./item-parts.ts";
import { type MessageMark, messageSignature, reasoningSignature } from "./signatures.ts";

type Json = Record<string, unknown>;

export type OutputItem = MessageItem | ReasoningItem | CallItem;
export type ItemKind = OutputItem["kind"];

/** Between parts of a summary, each of which is a paragraph. */
const PART_BREAK = "\n\n";

/** An output message: its parts, refusals among them, are one text block. */
export class MessageItem implements Item {
  readonly kind = "message" as const;
  readonly #assembler: AssistantAssembler;
  readonly #texts: ReplyText;
  #mark: MessageMark;
  #block: TextBlock | undefined;
  readonly #text = new GrowingText();
  #closed = false;

  constructor({ assembler, texts }: ItemParts, item: Json) {
    this.#assembler = assembler;
    this.#texts = texts;
    this.#mark = markOf(item);
  }

  get closed(): boolean {
    return this.#closed;
  }

  delta(text: string): void {
    if (text === "" || this.#closed) return;
    this.#block ??= this.#texts.open(messageSignature(this.#mark));
    this.#text.append(text);
    this.#block.add(text);
  }

  /** The text of a part, for servers that send no deltas. */
  part(text: string): void {
    if (this.#block === undefined) this.delta(text);
  }

  complete(item: Json): void {
    if (this.#closed) return;
    this.#mark = { ...this.#mark, ...markOf(item) };
    this.delta(missing(this.#text.value, partsText(item.content, "")));
    const signature = messageSignature(this.#mark);
    if (this.#block && signature !== undefined) this.#assembler.setSignature(this.#block.contentIndex, signature);
    this.close();
  }

  close(): void {
    if (!this.#closed) this.#block?.close();
    this.#closed = true;
  }
}

/** A reasoning item: its summary or, from servers that show it, its text is one thinking block. */
export class ReasoningItem implements Item {
  readonly kind = "reasoning" as const;
  readonly #assembler: AssistantAssembler;
  readonly #block: number;
  /** Of summary and text the one that came first; the other would repeat it. */
  #source: "summary" | "content" | undefined;
  readonly #parts = new Set<unknown>();
  #closed = false;

  constructor({ assembler }: ItemParts) {
    this.#assembler = assembler;
    // Opened at once: it stands before what is said of it, also when its text never comes.
    this.#block = assembler.openThinking();
  }

  get closed(): boolean {
    return this.#closed;
  }

  delta(source: "summary" | "content", text: string, part: unknown): void {
    if (text === "" || this.#closed) return;
    this.#source ??= source;
    if (this.#source !== source) return;
    const breaks = this.#parts.size > 0 && !this.#parts.has(part);
    this.#parts.add(part);
    this.#assembler.thinkingDelta(this.#block, breaks ? PART_BREAK + text : text);
  }

  /** The text of a part, for servers that send no deltas of it. */
  part(source: "summary" | "content", text: string, part: unknown): void {
    if (!this.#parts.has(part)) this.delta(source, text, part);
  }

  complete(item: Json): void {
    if (this.#closed) return;
    const summary = partsText(item.summary, PART_BREAK);
    const content = partsText(item.content, PART_BREAK);
    const source = this.#source ?? (summary === "" ? "content" : "summary");
    const rest = missing(this.#text(), source === "summary" ? summary : content);
    if (rest !== "") this.#assembler.thinkingDelta(this.#block, rest);
    const signature = reasoningSignature(item);
    if (signature !== undefined) this.#assembler.setSignature(this.#block, signature);
    this.close();
  }

  close(): void {
    if (!this.#closed) this.#assembler.closeBlock(this.#block);
    this.#closed = true;
  }

  #text(): string {
    const block = this.#assembler.blockAt(this.#block);
    return block?.type === "thinking" ? block.thinking : "";
  }
}

function markOf({ id, phase }: Json): MessageMark {
  return {
    ...(typeof id === "string" && id !== "" ? { id } : {}),
    ...(typeof phase === "string" && phase !== "" ? { phase } : {}),
  };
}

/** The texts of parts, refusals among them. */
function partsText(parts: unknown, between: string): string {
  if (typeof parts === "string") return parts;
  if (!Array.isArray(parts)) return "";
  return parts
    .map((part) => partText(part))
    .filter((text) => text !== "")
    .join(between);
}

/** The text of one part of a message or of reasoning. */
export function partText(part: unknown): string {
  const text = isRecord(part) ? (part.text ?? part.refusal) : part;
  return typeof text === "string" ? text : "";
}

/** What of a whole text has not arrived yet; nothing when it is another text than the one that arrived. */
function missing(arrived: string, whole: string): string {
  return whole.length > arrived.length && whole.startsWith(arrived) ? whole.slice(arrived.length) : "";
}
