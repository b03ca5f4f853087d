import type { AssistantContent, ToolCall, ToolResultMessage } from "@tau/llm";

/** Characters that must be one passage over and over, at least 8 times, before a text counts as stuck (report R009). */
const WINDOW = 8192;
/** A passage is looked for by this many characters at its end. */
const PROBE = 64;

/** Finds a text that is one passage over and over while it arrives; looks at each character a bounded number of times. */
export class RepeatedText {
  #tail = "";
  #fresh = 0;
  /** The length of the passage that the end of the text repeats; undefined while all is well. */
  add(delta: string): number | undefined {
    this.#tail += delta;
    this.#fresh += delta.length;
    if (this.#fresh < WINDOW / 2 || this.#tail.length < WINDOW) return undefined;
    const tail = this.#tail.slice(-WINDOW);
    this.#tail = tail;
    this.#fresh = 0;
    const at = tail.lastIndexOf(tail.slice(-PROBE), WINDOW - PROBE - 1);
    const length = WINDOW - PROBE - at;
    const passage = at >= 0 && length >= 16 && length <= WINDOW / 8;
    return passage && tail.slice(length) === tail.slice(0, -length) ? length : undefined;
  }
}

/** The block up to the second copy of the passage that its end repeats. */
export function cutBlock(block: AssistantContent | undefined, length: number): AssistantContent | undefined {
  const cut = (text: string) => {
    let start = text.length - length;
    while (start > 0 && text[start - 1] === text[start - 1 + length]) start--;
    return text.slice(0, start + 2 * length);
  };
  if (block?.type === "text") return { ...block, text: cut(block.text) };
  return block?.type === "thinking" ? { ...block, thinking: cut(block.thinking) } : undefined;
}

/** Counts identical call and result pairs in a row over the turns of a run, also in cycles of up to 12 calls (law T8). */
export class RepeatedCalls {
  readonly #recent: string[] = [];
  /** For each length of a cycle from 1: how many of the newest pairs are equal to the one that many before. */
  #runs = new Array<number>(12).fill(0);
  #message: unknown;
  /** How often this call gave this result in a row, this time included. Copies in one message count once. */
  count({ name, arguments: args }: ToolCall, { isError, content }: ToolResultMessage, message: unknown): number {
    const key = JSON.stringify([name, args, isError, content]);
    if (message !== this.#message || key !== this.#recent[0]) {
      this.#runs = this.#runs.map((run, at) => (this.#recent[at] === key ? run + 1 : 0));
      this.#recent.unshift(key);
      this.#recent.splice(this.#runs.length);
    }
    this.#message = message;
    return Math.max(...this.#runs.map((run, at) => Math.ceil(run / (at + 1)) + 1));
  }
}
