/** Sees where the JSON object or array at the top of a text ends, piece by piece and without keeping the text. */
export class ObjectEnd {
  #depth = 0;
  #inString = false;
  #escaped = false;
  #reached = false;

  /** True once everything that was opened is closed. */
  get reached(): boolean {
    return this.#reached;
  }

  feed(piece: string): void {
    for (const char of piece) {
      if (this.#inString) this.#string(char);
      else if (char === '"') this.#inString = true;
      else if (char === "{" || char === "[") this.#depth += 1;
      else if (char === "}" || char === "]") {
        this.#depth -= 1;
        this.#reached = this.#depth <= 0;
      }
    }
  }

  #string(char: string): void {
    if (this.#escaped) this.#escaped = false;
    else if (char === "\\") this.#escaped = true;
    else if (char === '"') this.#inString = false;
  }
}
