import { cleanTerminalText } from "../../platform/terminal-text.ts";

/** What waits for a slow reader at most, in UTF-16 units; the whole output is in the result's file. */
const MAX_WAITING = 1 << 20;

/**
 * Hands output on as text while it comes. While the reader is busy, pieces are joined; of a flood it then gets the
 * end, and a note of what was left out.
 */
export class OutputFeed {
  readonly #onOutput: (text: string) => void | Promise<void>;
  readonly #decoder = new TextDecoder();
  #waiting = "";
  #leftOut = 0;
  #sending: Promise<void> | undefined;

  constructor(onOutput: (text: string) => void | Promise<void>) {
    this.#onOutput = onOutput;
  }

  /** The bytes are read at once: the caller may use the memory again. */
  write(chunk: Uint8Array): void {
    this.#add(this.#decoder.decode(chunk, { stream: true }));
  }

  /** Resolves when everything was taken. */
  async end(): Promise<void> {
    this.#add(this.#decoder.decode());
    await this.#sending;
  }

  #add(text: string): void {
    this.#waiting += text;
    const tooMuch = this.#waiting.length - MAX_WAITING;
    if (tooMuch > 0) {
      this.#leftOut += tooMuch;
      this.#waiting = this.#waiting.slice(tooMuch);
    }
    this.#sending ??= this.#send();
  }

  async #send(): Promise<void> {
    while (this.#waiting !== "") {
      const note = this.#leftOut > 0 ? `[... ${this.#leftOut} characters left out here ...]\n` : "";
      const text = note + cleanTerminalText(this.#waiting);
      this.#waiting = "";
      this.#leftOut = 0;
      if (text !== "") await this.#onOutput(text);
    }
    this.#sending = undefined;
  }
}
