import { dirname } from "node:path";
import { codeOf, reasonOf } from "../platform/thrown.ts";
import { SessionLockedError } from "./errors.ts";
import type { OnPlaced, Recorder } from "./recorder.ts";
import type { RecordingState } from "./session-store.ts";
import type { FileIdentity, StoreFs } from "./store-fs.ts";
import type { WriterLock } from "./writer-lock.ts";

/** Bytes for one write call: a line, or at the start all lines that were kept back. */
interface Chunk {
  bytes: Buffer;
  /** Bytes before the first line: 1 when an LF ends a torn line first. */
  lead: number;
  lines: { index: number; length: number }[];
}

export interface JournalOptions {
  path: string;
  fs: StoreFs;
  lock: WriterLock | undefined;
  /** A lock that is needed no longer than until the file exists. */
  claim?: WriterLock;
  onPlaced: OnPlaced;
  /** For a file that exists: whether its last line is whole. Without it the file is made, exclusively. */
  existing?: { terminated: boolean };
}

const LF = 10;
const CLOSED = "the session is closed";

/**
 * Appends lines to a session file, each by one write call on an O_APPEND descriptor, before the call returns.
 * When the disk is full or read-only the lines wait in memory; each later line, `sync` and `close` try again, in
 * order. A line that was cut short is taken back, so that whenever the process ends the file has whole lines only;
 * where that fails it is continued where it stopped. Whole lines are never touched (laws F4, F11, report R107). A file
 * that somebody takes away while it is written is reported like a disk that refuses.
 */
export class Journal implements Recorder {
  readonly #options: JournalOptions;
  #fd: number | undefined;
  #held: boolean;
  #queue: Chunk[] = [];
  /** Bytes of the first chunk that are in the file. */
  #sent = 0;
  /** The file's size as far as this process knows. */
  #position = 0;
  /** Whether the file system said when the file was opened that it has a name, and this very name; some do not. */
  #named = false;
  #placed = false;
  /** Number of the newest entry. */
  #newest = -1;
  /** Why what was written is not there any more; that stays so. */
  #lost: string | undefined;
  #reason: string | undefined;
  #needsLf: boolean;
  #closed = false;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#held = options.existing === undefined;
    this.#needsLf = options.existing?.terminated === false;
  }

  get state(): RecordingState {
    if (this.#lost !== undefined) return { status: "failing", reason: this.#lost, unsaved: this.#newest + 1 };
    if (this.#reason === undefined) return { status: "ok" };
    const unsaved = this.#queue.reduce((sum, chunk) => sum + chunk.lines.filter(isEntry).length, 0);
    return { status: "failing", reason: this.#reason, unsaved };
  }

  add(line: string, index: number): void {
    this.#newest = Math.max(this.#newest, index);
    const lead = this.#needsLf ? "\n" : "";
    this.#needsLf = false;
    const bytes = Buffer.from(`${lead}${line}\n`);
    this.#queue.push({ bytes, lead: lead.length, lines: [{ index, length: bytes.length - lead.length - 1 }] });
    if (!this.#held) this.#flush();
  }

  release(): void {
    if (!this.#held) return;
    this.#held = false;
    const lines = this.#queue.flatMap((chunk) => chunk.lines);
    const bytes = Buffer.concat(this.#queue.map((chunk) => chunk.bytes));
    this.#queue = [{ bytes, lead: this.#queue[0]?.lead ?? 0, lines }];
    this.#flush();
  }

  /** Opens the file before there is something to write, so that a disk that refuses is known at once. */
  prepare(): void {
    this.#attempt(() => this.#open());
  }

  placesHold(): boolean {
    const fd = this.#fd;
    if (fd === undefined || this.#queue.length > 0) return false;
    return this.#attempt(() => this.#stat(fd).size === this.#position) === true;
  }

  sync(): void {
    if (this.#held) return;
    this.#flush();
    const fd = this.#fd;
    if (fd === undefined || this.#queue.length > 0) return;
    this.#attempt(() => {
      this.#stat(fd);
      this.#options.fs.fsync(fd);
    });
  }

  close(): void {
    if (this.#closed) return;
    if (!this.#held) this.#flush();
    this.#closed = true;
    const fd = this.#fd;
    this.#fd = undefined;
    // With lines left over the reason to keep is why they could not be written.
    if (fd !== undefined && this.#queue.length === 0) this.#attempt(() => this.#leave(fd));
    else if (fd !== undefined) this.#options.fs.close(fd);
    this.#options.lock?.release();
    this.#options.claim?.release();
  }

  #leave(fd: number): void {
    try {
      this.#stat(fd);
    } finally {
      this.#options.fs.close(fd);
    }
  }

  /** @throws when somebody removed, moved, replaced or cut the file: nobody would find there what is written now */
  #stat(fd: number): { size: number } {
    const { path, fs } = this.#options;
    const file = fs.stat(fd);
    const there = this.#placed ? fs.identify?.(path) : undefined;
    if (file.nlink === 0 ? this.#named : there && !isSameFile(there, file)) {
      this.#lost = `its file ${path} was removed or replaced meanwhile`;
    } else if (this.#placed && !there) this.#lost = `its file ${path} was moved away meanwhile`;
    else if (file.size < this.#position) this.#lost = `its file ${path} was cut short meanwhile`;
    if (this.#lost !== undefined) throw new Error(this.#lost);
    return file;
  }

  /** Writes what waits; stops at the first failure and keeps the rest. */
  #flush(): void {
    if (this.#closed) this.#reason = CLOSED;
    else if (this.#queue.length > 0) this.#attempt(() => this.#writeAll());
  }

  #writeAll(): void {
    const fd = this.#open();
    if (this.#options.lock?.lost) throw new Error("another process took the session over");
    this.#stat(fd);
    let done = 0;
    try {
      for (const chunk of this.#queue) {
        this.#writeWhole(fd, chunk);
        done++;
        this.#sent = 0;
        this.#tellPlaces(chunk);
      }
    } finally {
      this.#queue = this.#queue.slice(done);
    }
  }

  #writeWhole(fd: number, chunk: Chunk): void {
    try {
      this.#writeChunk(fd, chunk);
    } catch (error) {
      // What is told is why the line could not be written.
      this.#attempt(() => this.#takeBackTornLine(fd, chunk));
      throw error;
    }
  }

  #takeBackTornLine(fd: number, { bytes }: Chunk): void {
    const whole = bytes.subarray(0, this.#sent).lastIndexOf(LF) + 1;
    const torn = this.#sent - whole;
    // Behind bytes of somebody else nothing can be taken back.
    if (torn === 0 || this.#options.fs.stat(fd).size !== this.#position) return;
    this.#options.fs.truncate(fd, this.#position - torn);
    this.#position -= torn;
    this.#sent = whole;
  }

  #writeChunk(fd: number, { bytes }: Chunk): void {
    while (this.#sent < bytes.length) {
      const count = this.#options.fs.write(fd, bytes, this.#sent);
      if (count <= 0) throw new Error("the file system took no bytes");
      this.#sent += count;
      this.#position += count;
    }
  }

  #tellPlaces({ bytes, lead, lines }: Chunk): void {
    let offset = this.#position - bytes.length + lead;
    for (const { index, length } of lines) {
      this.#options.onPlaced(index, { offset, length });
      offset += length + 1;
    }
  }

  #open(): number {
    if (this.#fd !== undefined) return this.#fd;
    const { path, fs, lock, existing } = this.#options;
    if (!existing) fs.mkdir(dirname(path));
    if (lock) acquireWherePossible(lock);
    const fd = fs.open(path, existing ? "a" : "ax");
    this.#fd = fd;
    this.#options.claim?.release();
    const file = fs.stat(fd);
    this.#position = file.size;
    this.#named = file.nlink > 0;
    this.#placed = isSameFile(fs.identify?.(path), file);
    return fd;
  }

  #attempt<T>(action: () => T): T | undefined {
    try {
      const result = action();
      this.#reason = undefined;
      return result;
    } catch (error) {
      this.#reason = reasonOf(error);
      return undefined;
    }
  }
}

/** Some file systems cannot hold a lock; a session that is written without one is better than none. */
export function acquireWherePossible(lock: WriterLock): void {
  try {
    lock.acquire();
  } catch (error) {
    if (error instanceof SessionLockedError || codeOf(error) === undefined) throw error;
  }
}

function isSameFile(one: FileIdentity | undefined, other: Partial<FileIdentity>): boolean {
  return one !== undefined && one.ino === other.ino && one.dev === other.dev;
}

function isEntry(line: { index: number }): boolean {
  return line.index >= 0;
}
