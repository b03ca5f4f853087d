import { randomUUID } from "node:crypto";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "./make-folder.ts";
import { reasonOf } from "./thrown.ts";

/** First and last bytes that are kept in memory; what lies between is in the file only. */
const HEAD_BYTES = 64 * 1024;
const TAIL_BYTES = 192 * 1024;

export interface OutputBufferOptions {
  /** Where the file goes when memory does not hold the output; made (0700) when needed. */
  directory: string;
  /** Longest file, in bytes; what comes after it is counted and dropped (R073). */
  maxFileBytes: number;
}

/** What was kept of an output. `tail` follows `head` directly when `gapBytes` is 0. */
export interface KeptOutput {
  head: Buffer;
  tail: Buffer;
  /** Bytes between head and tail that are not in memory. */
  gapBytes: number;
}

/**
 * Takes an output of any length in bounded memory: its head, its tail, and, once these two no longer hold all of it,
 * a file (mode 0600) with the whole, up to a cap. The file is written synchronously: that bounds memory without a
 * queue, and pages of a temp file cost microseconds.
 */
export class OutputBuffer {
  readonly #options: OutputBufferOptions;
  readonly #tail = new TailBytes(TAIL_BYTES);
  #head = Buffer.alloc(0);
  #headLength = 0;
  #total = 0;
  #file: { path: string; descriptor: number; bytes: number } | undefined;
  #fileError: string | undefined;
  #filePath: string | undefined;
  #sealed = false;

  constructor(options: OutputBufferOptions) {
    this.#options = options;
  }

  /** Bytes that came in so far. */
  get totalBytes(): number {
    return this.#total;
  }

  /** The file with the output, once there is one. */
  get filePath(): string | undefined {
    return this.#filePath;
  }

  /** Why there is no whole file (disk full, cap reached), if so. */
  get fileError(): string | undefined {
    return this.#fileError;
  }

  /** Takes a chunk; its bytes are copied, so the caller may use the memory again. */
  write(chunk: Uint8Array): void {
    if (this.#sealed) {
      this.#append(chunk);
      return;
    }
    if (!this.#file && !this.#fileError && this.#total + chunk.length > HEAD_BYTES + TAIL_BYTES) this.saveToFile();
    this.#total += chunk.length;
    this.#append(chunk);
    const taken = this.#fillHead(chunk);
    if (taken < chunk.length) this.#tail.write(chunk.subarray(taken));
  }

  /** Starts the file with all that came so far, which memory still holds whole; later chunks go there as well. */
  saveToFile(): void {
    if (this.#filePath !== undefined || this.#fileError !== undefined) return;
    const path = join(this.#options.directory, `output-${randomUUID()}.log`);
    try {
      makeFolder(this.#options.directory, 0o700);
      this.#file = { path, descriptor: openSync(path, "wx", 0o600), bytes: 0 };
      this.#filePath = path;
    } catch (error) {
      this.#fileError = reasonOf(error);
      return;
    }
    this.#append(this.#head.subarray(0, this.#headLength));
    this.#append(this.#tail.bytes());
  }

  /** From here on chunks go to the file alone: what a background process still writes is not part of the result. */
  seal(): void {
    this.#sealed = true;
  }

  kept(): KeptOutput {
    const tail = this.#tail.bytes();
    const head = this.#head.subarray(0, this.#headLength);
    return { head, tail, gapBytes: this.#total - head.length - tail.length };
  }

  /** The last bytes, at most `count`. */
  last(count: number): Buffer {
    const { head, tail, gapBytes } = this.kept();
    const whole = tail.length < count && gapBytes === 0 ? Buffer.concat([head, tail]) : tail;
    return whole.subarray(Math.max(0, whole.length - count));
  }

  /** Closes the file; chunks that come later reach no file. */
  close(): void {
    if (this.#file) closeSync(this.#file.descriptor);
    this.#file = undefined;
    this.#fileError ??= "closed";
  }

  #fillHead(chunk: Uint8Array): number {
    const taken = Math.min(chunk.length, HEAD_BYTES - this.#headLength);
    if (taken === 0) return 0;
    const needed = this.#headLength + taken;
    if (needed > this.#head.length) {
      const larger = Buffer.alloc(Math.min(HEAD_BYTES, Math.max(needed, 2 * this.#head.length)));
      larger.set(this.#head.subarray(0, this.#headLength));
      this.#head = larger;
    }
    this.#head.set(chunk.subarray(0, taken), this.#headLength);
    this.#headLength = needed;
    return taken;
  }

  #append(chunk: Uint8Array): void {
    const file = this.#file;
    if (!file) return;
    const room = this.#options.maxFileBytes - file.bytes;
    try {
      writeAll(file.descriptor, chunk.subarray(0, room));
      file.bytes += Math.min(room, chunk.length);
    } catch (error) {
      this.#stopFile(reasonOf(error));
      return;
    }
    if (chunk.length > room) this.#stopFile(`only the first ${this.#options.maxFileBytes} bytes are in the file`);
  }

  #stopFile(reason: string): void {
    this.close();
    this.#fileError = reason;
  }
}

/** The last `capacity` bytes of a stream, in one ring of memory that is made at the first byte. */
class TailBytes {
  readonly #capacity: number;
  #ring = Buffer.alloc(0);
  #length = 0;
  #next = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  write(chunk: Uint8Array): void {
    if (this.#ring.length === 0) this.#ring = Buffer.alloc(this.#capacity);
    const last = chunk.subarray(Math.max(0, chunk.length - this.#capacity));
    const first = Math.min(last.length, this.#capacity - this.#next);
    this.#ring.set(last.subarray(0, first), this.#next);
    this.#ring.set(last.subarray(first), 0);
    this.#next = (this.#next + last.length) % this.#capacity;
    this.#length = Math.min(this.#capacity, this.#length + last.length);
  }

  /** In order; the ring itself while it has not wrapped, else a copy. */
  bytes(): Buffer {
    if (this.#length < this.#capacity) return this.#ring.subarray(0, this.#length);
    return Buffer.concat([this.#ring.subarray(this.#next), this.#ring.subarray(0, this.#next)]);
  }
}

function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done);
}
