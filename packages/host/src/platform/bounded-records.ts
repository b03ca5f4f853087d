/**
 * Splits a stream of bytes into records that end in one byte (LF, NUL), in bounded memory: of a record longer than
 * `maxBytes` only the first bytes are given, marked as cut.
 */
export class BoundedRecords {
  readonly #separator: number;
  readonly #maxBytes: number;
  readonly #onRecord: (record: Buffer, cut: boolean) => void;
  #parts: Buffer[] = [];
  #length = 0;
  #cut = false;

  constructor(
    { separator, maxBytes }: { separator: number; maxBytes: number },
    onRecord: (record: Buffer, cut: boolean) => void,
  ) {
    this.#separator = separator;
    this.#maxBytes = maxBytes;
    this.#onRecord = onRecord;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(this.#separator); end >= 0; end = chunk.indexOf(this.#separator, start)) {
      this.#add(chunk.subarray(start, end));
      this.#flush();
      start = end + 1;
    }
    if (start < chunk.length) this.#add(chunk.subarray(start));
  }

  /** Gives what came after the last separator, if anything. */
  end(): void {
    if (this.#length > 0) this.#flush();
  }

  #add(part: Buffer): void {
    const room = this.#maxBytes - this.#length;
    if (part.length > room) this.#cut = true;
    const taken = part.subarray(0, room);
    this.#length += taken.length;
    if (taken.length > 0) this.#parts.push(taken);
  }

  #flush(): void {
    const [only = Buffer.alloc(0)] = this.#parts;
    const record = this.#parts.length > 1 ? Buffer.concat(this.#parts) : only;
    const cut = this.#cut;
    this.#parts = [];
    this.#length = 0;
    this.#cut = false;
    this.#onRecord(record, cut);
  }
}
