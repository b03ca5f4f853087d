import type { AssistantAssembler } from "../../stream/assembler.ts";
import { GrowingText } from "../../stream/growing-text.ts";
import { isRecord, parseJson, writeJson } from "../../stream/json.ts";
import { JsonEnd } from "../../stream/json-end.ts";

const EMPTY_ARGUMENTS = /^\s{0,4}(?:\{\s{0,4}\}|null|"")?\s{0,4}$/;
const OPENING = /^\s{0,16}["{]/;

/**
 * The arguments of one call on their way into its block, from servers that send a placeholder such as `{}` before the
 * real ones (R202), repeat the whole of them at the end, or repeat all so far in each delta (R203). Where a text can be
 * read in two ways, the one that is a JSON object counts; nothing else is repaired.
 */
export class CallArguments {
  readonly #assembler: AssistantAssembler;
  readonly #text = new GrowingText();
  #length = 0;
  readonly #end = new JsonEnd();
  #placeholder = "";
  /** What came behind the end of the object. */
  #behind: GrowingText | undefined;
  /** All pieces as they came, from the moment that one looked like a repetition. */
  #raw: GrowingText | undefined;
  /** The vendor's last word. */
  #stated: string | undefined;
  #block: number | undefined;

  constructor(assembler: AssistantAssembler) {
    this.#assembler = assembler;
  }

  /** True once something came that is not a placeholder. */
  get begun(): boolean {
    return this.#length > 0;
  }

  /** True once a placeholder or a piece came. */
  get any(): boolean {
    return this.#length > 0 || this.#placeholder !== "";
  }

  /** Whether what came is a whole object: `maybe` when it may be a placeholder for the real ones. */
  get whole(): "yes" | "maybe" | "no" {
    if (this.#length === 0 && this.#placeholder.includes("{")) return "maybe";
    return this.#end.reached ? "yes" : "no";
  }

  /** The call is open: what has come is shown in its block, and so is what comes from now on. */
  attach(contentIndex: number): void {
    this.#block = contentIndex;
    if (this.#length > 0) this.#assembler.argumentsDelta(contentIndex, this.#text.value);
  }

  /** A piece of the text. */
  add(piece: string): void {
    if (piece === "" || this.#isPlaceholder(piece)) return;
    if (this.#end.reached) {
      this.#raw?.append(piece);
      // A text that is repeated as it was need not be kept.
      if (piece.length === this.#length && piece === this.#text.value) return;
      this.#behind ??= new GrowingText();
      this.#behind.append(piece);
      return;
    }
    const repeats = this.#length > 0 && piece.length >= this.#length && piece.startsWith(this.#text.value);
    if (repeats && !this.#raw) {
      this.#raw = new GrowingText();
      this.#raw.append(this.#text.value);
    }
    this.#raw?.append(piece);
    this.#show(repeats ? piece.slice(this.#length) : piece);
  }

  /** Arguments that are whole as they are: an object in the place of a text, or the vendor's last word. */
  state(whole: string): void {
    if (this.#stated === undefined || !isEmptyText(whole)) this.#stated = whole;
  }

  /** Judges what came and ends the block; `cut` is the reason for a text that is known to be incomplete. */
  close(cut?: string): void {
    if (this.#block === undefined) return;
    const counts = this.#resolve();
    const shown = this.#text.value;
    if (counts.length > shown.length && counts.startsWith(shown)) this.#show(counts.slice(shown.length));
    else if (counts !== shown) this.#assembler.replaceArguments(this.#block, counts);
    const said = this.#stated !== undefined || isObject(counts) || (counts.trim() !== "" && isEmptyText(counts));
    if (cut !== undefined && !said) {
      this.#assembler.refuseArguments(this.#block, cut);
    }
    this.#assembler.closeBlock(this.#block);
  }

  #show(piece: string): void {
    if (piece === "") return;
    this.#text.append(piece);
    this.#length += piece.length;
    this.#end.feed(piece);
    if (this.#block !== undefined) this.#assembler.argumentsDelta(this.#block, piece);
  }

  /** Holds a placeholder back until something else comes, and gives it back when that does not begin anew. */
  #isPlaceholder(piece: string): boolean {
    if (this.#length > 0) return false;
    if (isEmptyText(piece)) {
      this.#placeholder = piece;
      return true;
    }
    if (this.#placeholder === "") return false;
    if (piece.length < 16 && piece.trim() === "") return true;
    if (!OPENING.test(piece)) this.#show(this.#placeholder);
    this.#placeholder = "";
    return false;
  }

  /** The text that counts. */
  #resolve(): string {
    const shown = this.#length > 0 ? this.#text.value : this.#placeholder;
    const stated = this.#stated;
    if (stated !== undefined && (!isEmptyText(stated) || this.#length === 0)) return stated;
    const raw = this.#raw?.value;
    if (raw !== undefined && isObject(raw)) return raw;
    const behind = this.#behind?.value ?? "";
    if (behind.trim() === "" || isEmptyText(behind) || sameJson(behind, shown)) return shown;
    return isEmptyText(shown) && isObject(behind) ? behind : shown + behind;
  }
}

/** The text of arguments as a server gives them: as a text, or as an object in its place. */
export function argumentText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  // Too deep to be written: what stands here is refused as JSON.
  return writeJson(value) ?? "(arguments nested too deep)";
}

function isEmptyText(text: string): boolean {
  return text.length <= 16 && EMPTY_ARGUMENTS.test(text);
}

function isObject(text: string): boolean {
  return isRecord(parseJson(text));
}

function sameJson(one: string, other: string): boolean {
  const value = parseJson(one);
  return value !== undefined && writeJson(value) === writeJson(parseJson(other));
}
