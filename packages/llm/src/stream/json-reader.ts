import { GrowingText } from "./growing-text.ts";

interface ObjectFrame {
  kind: "object";
  value: Record<string, unknown>;
  /** The key whose value is being read. */
  key: string | undefined;
}

interface ArrayFrame {
  kind: "array";
  value: unknown[];
}

type Frame = ObjectFrame | ArrayFrame;

type Expect = "value" | "value or ]" | "key" | "key or }" | ":" | ", or end" | "end";

type Token =
  | { kind: "string"; text: GrowingText; escape: string; isKey: boolean }
  /** A number, true, false or null. */
  | { kind: "word"; text: string };

// What is nested deeper cannot continue as JSON: writing it is recursive.
const MAX_DEPTH = 256;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const WORDS = new Map<string, unknown>([
  ["true", true],
  ["false", false],
  ["null", null],
]);
const ESCAPES: Record<string, string> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

const QUOTE = 34;
const BACKSLASH = 92;

/**
 * Reads a JSON text (RFC 8259) that arrives in pieces, each character once. At any time it gives the value so far:
 * an unfinished string as far as it came, unfinished numbers and words when they are already values, unfinished keys
 * not at all. It is strict: after the first character that JSON does not allow, or the opening of a value deeper than
 * 256 levels, its state is `invalid` and the value stays what it was.
 */
export class JsonReader {
  readonly #stack: Frame[] = [];
  #expect: Expect = "value";
  #token: Token | undefined;
  #root: { value: unknown } | undefined;
  #invalid = false;
  #consumed = 0;

  /** `complete` once an object or array at the top has ended, `invalid` after a wrong character, else `open`. */
  get state(): "open" | "complete" | "invalid" {
    if (this.#invalid) return "invalid";
    return this.#expect === "end" && this.#stack.length === 0 ? "complete" : "open";
  }

  /** Number of characters looked at, over all pieces: the cost so far. */
  get consumed(): number {
    return this.#consumed;
  }

  feed(piece: string): void {
    let at = 0;
    while (at < piece.length && !this.#invalid) {
      const next = this.#step(piece, at);
      this.#consumed += Math.max(1, next - at);
      at = next;
    }
  }

  /**
   * The value so far; undefined before there is one. It shares finished parts with other results and is not changed
   * by later pieces: only the containers that are still open are copied.
   */
  value(): unknown {
    if (this.#root) return this.#root.value;
    let inner: { value: unknown } | undefined = this.#unfinished();
    for (let depth = this.#stack.length - 1; depth >= 0; depth -= 1) {
      const frame = this.#stack[depth];
      if (frame) inner = { value: withChild(frame, inner) };
    }
    return inner?.value;
  }

  #unfinished(): { value: unknown } | undefined {
    const token = this.#token;
    if (!token || (token.kind === "string" && token.isKey)) return undefined;
    return token.kind === "string" ? { value: token.text.value } : wordValue(token.text);
  }

  /** Reads some characters from `at` on and gives the position of the next unread one. */
  #step(piece: string, at: number): number {
    const token = this.#token;
    if (token?.kind === "string") return this.#readString(token, piece, at);
    if (token?.kind === "word") return this.#readWord(token, piece, at);
    const char = piece[at] ?? "";
    if (char === " " || char === "\n" || char === "\t" || char === "\r") return at + 1;
    this.#structure(char);
    // The first character of a word belongs to its token.
    return this.#token?.kind === "word" ? at : at + 1;
  }

  #structure(char: string): void {
    const expect = this.#expect;
    if ((expect === "key or }" && char === "}") || (expect === "value or ]" && char === "]")) this.#close();
    else if (expect === "key" || expect === "key or }") this.#startKey(char);
    else if (expect === "value" || expect === "value or ]") this.#startValue(char);
    else if (expect === ", or end") this.#afterValue(char);
    else if (expect === ":" && char === ":") this.#expect = "value";
    else this.#fail();
  }

  #afterValue(char: string): void {
    const frame = this.#stack.at(-1);
    const closer = frame?.kind === "object" ? "}" : "]";
    if (char === closer) this.#close();
    else if (char === ",") this.#expect = frame?.kind === "object" ? "key" : "value";
    else this.#fail();
  }

  #startKey(char: string): void {
    if (char === '"') this.#token = { kind: "string", text: new GrowingText(), escape: "", isKey: true };
    else this.#fail();
  }

  #startValue(char: string): void {
    if (this.#stack.length >= MAX_DEPTH && (char === "{" || char === "[")) {
      this.#fail();
    } else if (char === '"') {
      this.#token = { kind: "string", text: new GrowingText(), escape: "", isKey: false };
    } else if (char === "{") {
      this.#stack.push({ kind: "object", value: {}, key: undefined });
      this.#expect = "key or }";
    } else if (char === "[") {
      this.#stack.push({ kind: "array", value: [] });
      this.#expect = "value or ]";
    } else if (/[-0-9tfn]/.test(char)) {
      this.#token = { kind: "word", text: "" };
    } else {
      this.#fail();
    }
  }

  #readString(token: Extract<Token, { kind: "string" }>, piece: string, start: number): number {
    if (token.escape !== "") return this.#readEscape(token, piece[start] ?? "", start);
    let at = start;
    for (; at < piece.length; at += 1) {
      const code = piece.charCodeAt(at);
      if (code === QUOTE || code === BACKSLASH || code < 0x20) break;
    }
    token.text.append(piece.slice(start, at));
    if (at === piece.length) return at;
    const code = piece.charCodeAt(at);
    if (code === BACKSLASH) token.escape = "\\";
    else if (code === QUOTE) this.#endString(token);
    else this.#fail();
    return at + 1;
  }

  #readEscape(token: Extract<Token, { kind: "string" }>, char: string, at: number): number {
    const sequence = token.escape + char;
    if (sequence.length === 2 && char !== "u") {
      const meaning = ESCAPES[char];
      if (meaning === undefined) this.#fail();
      else token.text.append(meaning);
      token.escape = "";
    } else if (sequence.length > 2 && !/[0-9a-fA-F]/.test(char)) {
      this.#fail();
    } else if (sequence.length === 6) {
      token.text.append(String.fromCharCode(Number.parseInt(sequence.slice(2), 16)));
      token.escape = "";
    } else {
      token.escape = sequence;
    }
    return at + 1;
  }

  #readWord(token: Extract<Token, { kind: "word" }>, piece: string, start: number): number {
    let at = start;
    while (at < piece.length && /[-+.0-9a-zA-Z]/.test(piece[at] ?? "")) at += 1;
    token.text += piece.slice(start, at);
    if (at === piece.length) return at;
    const word = wordValue(token.text);
    this.#token = undefined;
    if (word) this.#add(word.value);
    else this.#fail();
    return at;
  }

  #endString(token: Extract<Token, { kind: "string" }>): void {
    this.#token = undefined;
    const frame = this.#stack.at(-1);
    if (token.isKey && frame?.kind === "object") {
      frame.key = token.text.value;
      this.#expect = ":";
    } else {
      this.#add(token.text.value);
    }
  }

  #close(): void {
    const frame = this.#stack.pop();
    if (frame) this.#add(frame.value);
  }

  #add(value: unknown): void {
    const frame = this.#stack.at(-1);
    if (!frame) {
      this.#root = { value };
      this.#expect = "end";
      return;
    }
    if (frame.kind === "array") frame.value.push(value);
    else setOwn(frame.value, frame.key ?? "", value);
    if (frame.kind === "object") frame.key = undefined;
    this.#expect = ", or end";
  }

  #fail(): void {
    this.#invalid = true;
  }
}

function withChild(frame: Frame, child: { value: unknown } | undefined): unknown {
  if (frame.kind === "array") return child ? [...frame.value, child.value] : [...frame.value];
  const copy = { ...frame.value };
  if (child && frame.key !== undefined) setOwn(copy, frame.key, child.value);
  return copy;
}

/** Sets a property as JSON.parse does: `__proto__` is a key like any other. */
function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") target[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

function wordValue(text: string): { value: unknown } | undefined {
  if (WORDS.has(text)) return { value: WORDS.get(text) };
  return NUMBER.test(text) ? { value: Number(text) } : undefined;
}
