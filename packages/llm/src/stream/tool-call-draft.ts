import type { ToolCall } from "../protocol/message.ts";
import { readArguments } from "./arguments.ts";
import { isRecord } from "./json.ts";
import { JsonReader } from "./json-reader.ts";

/**
 * A tool call whose argument text still arrives. `block()` gives it as it is now: an object that never changes, whose
 * `arguments` are computed when someone looks. Nothing is parsed for readers who do not look; for one who looks at
 * every delta the reader goes on where it was (S5).
 */
export class ToolCallDraft {
  readonly #head: Omit<ToolCall, "arguments">;
  #text = "";
  #reader: JsonReader | undefined;

  constructor(call: { id: string; name: string; thoughtSignature?: string }) {
    this.#head = { type: "toolCall", id: call.id, name: call.name };
    if (call.thoughtSignature !== undefined) this.#head.thoughtSignature = call.thoughtSignature;
  }

  /** The argument text so far. */
  get text(): string {
    return this.#text;
  }

  append(delta: string): void {
    this.#text += delta;
    this.#reader?.feed(delta);
  }

  /** The call so far. */
  block(): ToolCall {
    const text = this.#text;
    const valueAt = () => this.#valueAt(text);
    let known: Record<string, unknown> | undefined;
    return {
      ...this.#head,
      get arguments() {
        known ??= valueAt();
        return known;
      },
    };
  }

  /** The call at its end, by the rules for argument texts (C7). */
  finish(): ToolCall {
    return { ...this.#head, ...readArguments(this.#text) };
  }

  #valueAt(text: string): Record<string, unknown> {
    // Texts of one draft grow only, so an equal length means the present text.
    if (text.length !== this.#text.length) return objectOf(readWhole(text));
    this.#reader ??= readWhole(text);
    return objectOf(this.#reader);
  }
}

function readWhole(text: string): JsonReader {
  const reader = new JsonReader();
  reader.feed(text);
  return reader;
}

function objectOf(reader: JsonReader): Record<string, unknown> {
  const value = reader.value();
  return isRecord(value) ? value : {};
}
