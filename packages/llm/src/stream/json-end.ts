const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;

/** Sees where the JSON object or array at the start of a text ends, piece by piece and without keeping the text. */
export class JsonEnd {
  #depth = 0;
  #inString = false;
  #escaped = false;
  #reached = false;

  /** True once everything that was opened is closed; what is fed later changes nothing. */
  get reached(): boolean {
    return this.#reached;
  }

  feed(piece: string): void {
    for (let at = 0; at < piece.length && !this.#reached; at += 1) {
      const code = piece.charCodeAt(at);
      if (this.#inString) this.#string(code);
      else if (code === QUOTE) this.#inString = true;
      else if (code === OPEN_BRACE || code === OPEN_BRACKET) this.#depth += 1;
      else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
        this.#depth -= 1;
        this.#reached = this.#depth <= 0;
      }
    }
  }

  #string(code: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (code === BACKSLASH) this.#escaped = true;
    else if (code === QUOTE) this.#inString = false;
  }
}
