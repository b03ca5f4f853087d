import type { Writable } from "node:stream";

/** How a system says that nobody reads any more. */
const READER_GONE: ReadonlySet<unknown> = new Set(["EPIPE", "ECONNRESET", "EIO", "ERR_STREAM_DESTROYED"]);

/**
 * Writes lines in order and with backpressure: what `write` gives is to be awaited, so that a slow reader slows the
 * run down instead of filling the memory. A reader that is gone (EPIPE) is not an error: the rest is dropped. A disk
 * that is full is one: see `failure`.
 */
export class LineOutput {
  readonly #stream: Writable;
  #closed = false;
  #failure: Error | undefined;
  /** One promise for all that wait for the same reader. */
  #room: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  /** @param onClosed called once when nobody reads any more, or nothing can be written */
  constructor(stream: Writable, onClosed: () => void = () => undefined) {
    this.#stream = stream;
    stream.on("drain", () => this.#wake());
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (this.#closed) return;
      if (!READER_GONE.has(error.code)) this.#failure = error;
      this.release();
      onClosed();
    });
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Why what was written is not there, such as a full disk; undefined also when its reader has gone. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  write(text: string): Promise<void> | undefined {
    if (this.#closed || this.#stream.write(text)) return undefined;
    return this.#drained();
  }

  /** Resolves when all that was written has left the process, or nobody reads it. */
  async flush(): Promise<void> {
    while (!this.#closed && this.#stream.writableLength > 0) {
      const drained = this.#drained();
      // "drain" comes only behind a write that filled the buffer; this one tells in any case.
      this.#stream.write("", () => this.#wake());
      await drained;
    }
  }

  /** Nothing waits for the reader any more; for the end of the process. */
  release(): void {
    this.#closed = true;
    this.#wake();
  }

  #wake(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }

  #drained(): Promise<void> {
    this.#room ??= deferred();
    return this.#room.promise;
  }
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
