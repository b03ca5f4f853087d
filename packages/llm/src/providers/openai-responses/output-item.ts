import type { AssistantAssembler } from "../../stream/assembler.ts";
import { isRecord, parseJson } from "../../stream/json.ts";
import { type MessageMark, messageSignature, reasoningSignature } from "./signatures.ts";

type Json = Record<string, unknown>;

/** One item of the output while it arrives. */
interface Item {
  /** No more is taken from it. */
  readonly closed: boolean;
  /** The item as the server says it is in the end. */
  complete(item: Json): void;
  /** Ends it with what has arrived. */
  close(): void;
}

export type OutputItem = MessageItem | ReasoningItem | CallItem;
export type ItemKind = OutputItem["kind"];

/** Between parts of a summary, each of which is a paragraph. */
const PART_BREAK = "\n\n";

/** An output message: its parts, refusals among them, are one text block. */
export class MessageItem implements Item {
  readonly kind = "message" as const;
  readonly #assembler: AssistantAssembler;
  #mark: MessageMark;
  #block: number | undefined;
  #closed = false;

  constructor(assembler: AssistantAssembler, item: Json) {
    this.#assembler = assembler;
    this.#mark = markOf(item);
  }

  get closed(): boolean {
    return this.#closed;
  }

  delta(text: string): void {
    if (text === "" || this.#closed) return;
    this.#block ??= this.#assembler.openText(messageSignature(this.#mark));
    this.#assembler.textDelta(this.#block, text);
  }

  /** The text of a part, for servers that send no deltas. */
  part(text: string): void {
    if (this.#block === undefined) this.delta(text);
  }

  complete(item: Json): void {
    if (this.#closed) return;
    this.#mark = { ...this.#mark, ...markOf(item) };
    this.delta(missing(this.#text(), partsText(item.content, "")));
    const signature = messageSignature(this.#mark);
    if (this.#block !== undefined && signature !== undefined) this.#assembler.setSignature(this.#block, signature);
    this.close();
  }

  close(): void {
    if (this.#block !== undefined && !this.#closed) this.#assembler.closeBlock(this.#block);
    this.#closed = true;
  }

  #text(): string {
    const block = this.#block === undefined ? undefined : this.#assembler.message.content[this.#block];
    return block?.type === "text" ? block.text : "";
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

  constructor(assembler: AssistantAssembler) {
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
    const block = this.#assembler.message.content[this.#block];
    return block?.type === "thinking" ? block.thinking : "";
  }
}

/** What a call needs to know of the others and of the tools. */
export interface CallNames {
  /** The id of a call, or one of ours: unique in the answer and never empty (R026). */
  claimId(candidates: readonly unknown[]): string;
  ownName(name: string): string;
}

const CUT = "The answer ended before the arguments of this call were whole";

/**
 * A function call. Its arguments count when the server has said them whole, by `arguments.done`, the item or the final
 * output; pieces alone count when they are a whole object, else the call must fail (R031).
 */
export class CallItem implements Item {
  readonly kind = "function_call" as const;
  readonly #assembler: AssistantAssembler;
  readonly #names: CallNames;
  readonly #callIds: unknown[] = [];
  readonly #itemIds: unknown[] = [];
  #name = "";
  /** Pieces that came before the name. */
  #held = "";
  /** Arguments that came with the announcement: some servers send them there, some there and in pieces. */
  #announced = "";
  #whole: string | undefined;
  #block: number | undefined;
  #closed = false;

  constructor(assembler: AssistantAssembler, names: CallNames, item: Json) {
    this.#assembler = assembler;
    this.#names = names;
    this.#announced = argumentText(item.arguments);
    this.#note(item);
  }

  get closed(): boolean {
    return this.#closed;
  }

  delta(text: string): void {
    if (text === "" || this.#closed) return;
    if (this.#block === undefined) this.#held += text;
    else this.#assembler.argumentsDelta(this.#block, text);
  }

  /** The arguments as the server says they are in the end. */
  done(event: Json): void {
    if (this.#closed) return;
    this.#note({ name: event.name });
    const text = argumentText(event.arguments);
    if (text !== "" || this.#whole === undefined) this.#whole = text;
  }

  complete(item: Json): void {
    if (this.#closed) return;
    this.#note(item);
    this.done({ arguments: item.arguments });
    this.close();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const block = this.#open();
    const arrived = this.#assembler.argumentsOf(block);
    const whole = this.#whole === "" ? arrived || this.#announced : this.#whole;
    const text = whole ?? (arrived || this.#announced);
    const rest = missing(arrived, text);
    if (rest !== "") this.#assembler.argumentsDelta(block, rest);
    else if (text !== arrived) this.#assembler.replaceArguments(block, text);
    if (whole === undefined && !isRecord(parseJson(text))) this.#assembler.refuseArguments(block, CUT);
    this.#assembler.closeBlock(block);
  }

  /** Opens the call as soon as its name is known; by then most servers have told its id as well. */
  #note(item: Json): void {
    if (this.#block !== undefined) return;
    this.#callIds.push(item.call_id);
    this.#itemIds.push(item.id);
    if (typeof item.name === "string" && item.name !== "") {
      this.#name = item.name;
      this.#open();
    }
  }

  #open(): number {
    if (this.#block !== undefined) return this.#block;
    const id = this.#names.claimId([...this.#callIds, ...this.#itemIds]);
    const block = this.#assembler.openToolCall({ id, name: this.#names.ownName(this.#name) });
    this.#block = block;
    if (this.#held !== "") this.#assembler.argumentsDelta(block, this.#held);
    this.#held = "";
    return block;
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

function argumentText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}
