// Joined pieces stay a tree of small objects in memory, some 60 bytes a piece, until something reads the characters.
const TAIL_CHARS = 4096;

/** A text that grows by small pieces, each at constant cost and with little more memory than its characters (S5, O4). */
export class GrowingText {
  #head = "";
  #tail = "";

  /** The text so far. */
  get value(): string {
    return this.#head + this.#tail;
  }

  /** Adds a piece and gives the text so far. */
  append(piece: string): string {
    this.#tail += piece;
    if (this.#tail.length >= TAIL_CHARS) {
      // Reading a character makes V8 lay the tail out as one string; its tree is then free.
      this.#tail.charCodeAt(0);
      this.#head += this.#tail;
      this.#tail = "";
    }
    return this.value;
  }
}
