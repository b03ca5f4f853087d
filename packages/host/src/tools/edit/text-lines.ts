/** The lines of a text by number and by place; built once, in linear time. */
export class TextLines {
  readonly text: string;
  readonly #starts: number[] = [0];

  constructor(text: string) {
    this.text = text;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) this.#starts.push(at + 1);
  }

  /** A final newline ends the last line and begins none. */
  get count(): number {
    return this.#starts.at(-1) === this.text.length ? this.#starts.length - 1 : this.#starts.length;
  }

  /** Number, from 1, of the line that holds a place. */
  numberAt(index: number): number {
    let low = 0;
    let high = this.#starts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#starts[middle] ?? 0) <= index) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Place of the first character of a line; the end of the text for lines that are not there. */
  startOf(line: number): number {
    return this.#starts[line - 1] ?? this.text.length;
  }

  /** A line without its line end. */
  line(line: number): string {
    return this.text.slice(this.startOf(line), this.startOf(line + 1)).replace(/\r?\n$/, "");
  }

  /** Lines `first` to `last` with their numbers, for showing to the model; long lines and long lists are cut. */
  show(first: number, last: number, maxLines = 40): string {
    const from = Math.max(1, first);
    const to = Math.min(last, this.count);
    const shown: string[] = [];
    for (let line = from; line <= Math.min(to, from + maxLines - 1); line++) {
      const text = this.line(line);
      shown.push(`${line}\t${text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text}`);
    }
    if (to - from >= maxLines) shown.push("…");
    return shown.join("\n");
  }
}

const MAX_SHOWN = 300;
