import { parseJson } from "./json.ts";
import { JsonEnd } from "./json-end.ts";

const MAX_CHARS = 256 * 1024;
const SHOWN_CHARS = 2000;

/** Lines of a stream that are not a field of a frame: a bare JSON value, or words of a proxy. */
export class StrayText {
  #lines: string[] = [];
  #length = 0;
  #end: JsonEnd | undefined;
  /** Lines that are not JSON. */
  #words = "";

  /** Takes a line, and gives the JSON text that ends with it. */
  line(line: string): string | undefined {
    if (!this.#end) {
      const start = line.trimStart();
      if (!start.startsWith("{") && !start.startsWith("[")) {
        this.#say(line);
        return undefined;
      }
      this.#end = new JsonEnd();
    }
    this.#lines.push(line);
    this.#length += line.length;
    this.#end.feed(line);
    if (!this.#end.reached && this.#length < MAX_CHARS) return undefined;
    const text = this.#taken();
    if (text.trim() === "[DONE]" || parseJson(text) !== undefined) return text;
    this.#say(text);
    return undefined;
  }

  /** What is left at the end of the stream and is not a JSON value. */
  rest(): string {
    this.#say(this.#taken());
    return this.#words.trim();
  }

  #taken(): string {
    const text = this.#lines.join("\n");
    this.#lines = [];
    this.#length = 0;
    this.#end = undefined;
    return text;
  }

  #say(text: string): void {
    if (this.#words.length < SHOWN_CHARS) this.#words += `${text.slice(0, SHOWN_CHARS)} `;
  }
}
