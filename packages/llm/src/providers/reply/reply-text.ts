import type { AssistantAssembler } from "../../stream/assembler.ts";
import type { CallNames } from "./call-names.ts";
import { malformedCall, type ReplyEnd } from "./reply-end.ts";
import { CALL_MARKERS, type CallMarker, readWrittenCalls, type WrittenCall } from "./written-calls.ts";

const FENCE = "```";
const LESS_THAN = 60;
const OPEN_BRACKET = 91;
/** What stands before a marker that is only spoken of. */
const QUOTES = "`'\"";
const UNREADABLE = malformedCall("The model wrote a tool call as text that cannot be read");

/** One text block of a reply, open until `close`. */
export interface TextBlock {
  readonly contentIndex: number;
  add(text: string): void;
  close(): void;
}

/**
 * The text blocks of a reply. A text from which a model's own form of a call begins is held back; at the end of the
 * block it is taken for the calls that it is, or shown as the text that it is (R208).
 */
export class ReplyText {
  readonly #assembler: AssistantAssembler;
  readonly #names: CallNames;
  readonly #calls: WrittenCall[] = [];
  #unreadable = false;
  #cut = false;

  constructor(assembler: AssistantAssembler, names: CallNames) {
    this.#assembler = assembler;
    this.#names = names;
  }

  open(signature?: string): TextBlock {
    const assembler = this.#assembler;
    const contentIndex = assembler.openText(signature);
    // Without tools nothing is meant as a call.
    const hold = this.#names.expected ? new HeldText() : undefined;
    const show = (text: string) => {
      if (text !== "") assembler.textDelta(contentIndex, text);
    };
    return {
      contentIndex,
      add: (text) => show(hold ? hold.add(text) : text),
      close: () => {
        if (hold) show(this.#settle(hold, contentIndex));
        assembler.closeBlock(contentIndex);
      },
    };
  }

  /** The reply is cut: what is held from now on is text. */
  cut(): void {
    this.#cut = true;
  }

  /** Opens the calls that were written as text, when there are no others, and gives the end that this makes. */
  finish(end: ReplyEnd): ReplyEnd {
    const hasCalls = this.#assembler.message.content.some(({ type }) => type === "toolCall");
    if (hasCalls || "failure" in end) return end;
    for (const { name, args } of this.#calls) {
      const call = { id: this.#names.claimId([]), name: this.#names.ownName(name) };
      const contentIndex = this.#assembler.openToolCall(call);
      if (args !== "") this.#assembler.argumentsDelta(contentIndex, args);
      this.#assembler.closeBlock(contentIndex);
    }
    if (this.#calls.length > 0 || end.end === "length") return end;
    return this.#unreadable ? { failure: UNREADABLE } : end;
  }

  /** What of a held text is text after all. */
  #settle(hold: HeldText, contentIndex: number): string {
    const { text, marker } = hold.rest();
    if (this.#cut || !marker) return text;
    const block = this.#assembler.blockAt(contentIndex);
    const before = block?.type === "text" ? block.text : "";
    if (before.split(FENCE).length % 2 === 0) return text;
    const calls = readWrittenCalls(text, marker);
    if (calls) {
      this.#calls.push(...calls);
      return "";
    }
    const beginsLine = before.slice(before.lastIndexOf("\n") + 1).trim() === "";
    this.#unreadable ||= marker.speaks ? text.includes(" to=") : beginsLine && isCallAlone(text, marker.text);
    return text;
  }
}

/** Holds a text back from the first marker on, and before it what may become a marker. */
class HeldText {
  #held = "";
  /** The last character that was shown. */
  #last = " ";
  #marker: CallMarker | undefined;
  /** The pieces behind a marker, joined once. */
  #pieces: string[] = [];

  /** What can be shown. */
  add(piece: string): string {
    if (this.#marker) {
      this.#pieces.push(piece);
      return "";
    }
    if (this.#held === "" && !piece.includes("<") && !piece.includes("[")) return this.#shown(piece);
    const text = this.#held + piece;
    this.#held = "";
    const at = this.#find(text);
    if (at < 0) return this.#shown(text);
    if (this.#marker) this.#pieces.push(text.slice(at));
    else this.#held = text.slice(at);
    return this.#shown(text.slice(0, at));
  }

  rest(): { text: string; marker: CallMarker | undefined } {
    return { text: this.#marker ? this.#pieces.join("") : this.#held, marker: this.#marker };
  }

  #shown(text: string): string {
    if (text !== "") this.#last = text.charAt(text.length - 1);
    return text;
  }

  /** Where a marker begins, or an end of the text that may become one; -1 when there is none. */
  #find(text: string): number {
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code !== LESS_THAN && code !== OPEN_BRACKET) continue;
      const quoted = QUOTES.includes(at > 0 ? text.charAt(at - 1) : this.#last);
      const fitting = quoted ? undefined : CALL_MARKERS.find((marker) => fits(text, at, marker.text));
      if (!fitting) continue;
      if (text.length - at >= fitting.text.length) this.#marker = fitting;
      return at;
    }
    return -1;
  }
}

/** True when the marker stands there, or the text ends within it. */
function fits(text: string, at: number, marker: string): boolean {
  return text.length - at >= marker.length ? text.startsWith(marker, at) : marker.startsWith(text.slice(at));
}

/** True for a text that begins a call behind its marker and does not continue behind it: it does not only speak of calls. */
function isCallAlone(text: string, marker: string): boolean {
  const body = text.slice(marker.length).trimStart();
  if (!"{[<".includes(body.charAt(0)) && marker.endsWith(">")) return false;
  return !body.includes("</") || body.slice(body.lastIndexOf(">") + 1).trim() === "";
}
