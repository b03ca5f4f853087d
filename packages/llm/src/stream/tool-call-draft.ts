import type { ToolCall } from "../protocol/message.ts";
import { readArguments, refusedArguments } from "./arguments.ts";
import { GrowingText } from "./growing-text.ts";
import { isRecord } from "./json.ts";
import { JsonReader } from "./json-reader.ts";

/** What of a call is known from its start. */
type CallHead = Pick<ToolCall, "id" | "name" | "thoughtSignature">;

/**
 * A tool call whose argument text still arrives. `block()` gives it as it is now: an object that never changes, whose
 * `arguments` are computed when someone looks. Nothing is parsed for readers who do not look; for one who looks at
 * every delta the reader continues where it was (S5).
 */
export class ToolCallDraft {
  readonly #head: CallHead;
  readonly #text = new GrowingText();
  #replaced: string | undefined;
  #refusal: string | undefined;
  /** Reads for those who look at unfinished arguments; it stands where the latest look was. */
  #reader: JsonReader | undefined;
  #read = 0;
  /** Text behind the place of the reader, in pieces. */
  #pending: string[] = [];

  constructor({ id, name, thoughtSignature }: CallHead) {
    this.#head = thoughtSignature === undefined ? { id, name } : { id, name, thoughtSignature };
  }

  /** The argument text so far. */
  get text(): string {
    return this.#text.value;
  }

  append(delta: string): void {
    this.#text.append(delta);
    if (this.#reader) this.#pending.push(delta);
  }

  /** At its end the call has this text in the place of what arrived: the vendor's last word. */
  replace(text: string): void {
    this.#replaced = text;
  }

  /** The call must fail whatever its text is: it is known to be cut. */
  refuse(error: string): void {
    this.#refusal = error;
  }

  /** The call so far. */
  block(): ToolCall {
    return new UnfinishedCall(this.#head, this, this.#text.value);
  }

  /** The call at its end, by the rules for argument texts (C7). */
  finish(): ToolCall {
    const text = this.#replaced ?? this.#text.value;
    const read = this.#refusal === undefined ? readArguments(text) : refusedArguments(text, this.#refusal);
    return { type: "toolCall", ...this.#head, ...read };
  }

  /** The value of a text that this draft once had. Who looks at older texts than before pays for reading them anew. */
  valueAt(text: string): Record<string, unknown> {
    if (!this.#reader) {
      this.#reader = new JsonReader();
      this.#pending = [this.#text.value];
    }
    if (text.length < this.#read) {
      const reader = new JsonReader();
      reader.feed(text);
      return objectOf(reader);
    }
    this.#readTo(this.#reader, text.length);
    return objectOf(this.#reader);
  }

  #readTo(reader: JsonReader, end: number): void {
    let used = 0;
    for (const [index, piece] of this.#pending.entries()) {
      if (this.#read >= end) break;
      const part = piece.slice(0, end - this.#read);
      reader.feed(part);
      this.#read += part.length;
      if (part.length === piece.length) used = index + 1;
      else this.#pending[index] = piece.slice(part.length);
    }
    this.#pending.splice(0, used);
  }
}

function objectOf(reader: JsonReader): Record<string, unknown> {
  const value = reader.value();
  return isRecord(value) ? value : {};
}

/** A call as it was at one moment. To others it is a plain object; its `arguments` are read when someone looks. */
class UnfinishedCall implements ToolCall {
  readonly type = "toolCall";
  readonly id: string;
  readonly name: string;
  readonly thoughtSignature?: string;
  declare readonly arguments: Record<string, unknown>;
  readonly #draft: ToolCallDraft;
  readonly #text: string;
  #value: Record<string, unknown> | undefined;

  constructor(head: CallHead, draft: ToolCallDraft, text: string) {
    this.id = head.id;
    this.name = head.name;
    if (head.thoughtSignature !== undefined) this.thoughtSignature = head.thoughtSignature;
    this.#draft = draft;
    this.#text = text;
    Object.defineProperty(this, "arguments", ARGUMENTS);
  }

  static look(call: UnfinishedCall): Record<string, unknown> {
    call.#value ??= call.#draft.valueAt(call.#text);
    return call.#value;
  }
}

// An own property, so that copies and JSON have it, and one function for all, which is ten times faster than one each.
const ARGUMENTS: PropertyDescriptor & ThisType<UnfinishedCall> = {
  enumerable: true,
  configurable: true,
  get() {
    return UnfinishedCall.look(this);
  },
};
