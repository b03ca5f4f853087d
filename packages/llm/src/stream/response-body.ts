import type { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { StreamError } from "./stream-error.ts";

/** Waits of a body in milliseconds; 0 waits for ever. */
export interface BodyWaits {
  /** From now to the first byte. */
  firstByteMs: number;
  /** Between two chunks, while the reader waits for one. */
  idleMs: number;
  /** Names the server in messages. */
  host: string;
}

// A stream is read up to its last frame, not to its end; the end follows at once and leaves a connection to use again.
const LINGER_MS = 500;

/**
 * The bytes of a response, read once. Nothing is read ahead of the reader beyond the buffer of the socket, so a slow
 * reader slows the server. Iterating rejects with a `StreamError` on a time-out, a broken connection and an abort.
 */
export class ResponseBody implements AsyncIterable<Uint8Array> {
  readonly #source: Readable;
  readonly #waits: BodyWaits;
  /** Resolves when the connection is free or gone. */
  readonly closed: Promise<void>;
  #failure: unknown;
  #ended = false;
  /** Unix time in milliseconds at which waiting ends. */
  #until = Number.POSITIVE_INFINITY;
  #begun = false;
  #wake: (() => void) | undefined;

  constructor(source: Readable, waits: BodyWaits) {
    this.#source = source;
    this.#waits = { ...waits };
    const wake = () => this.#wake?.();
    source.on("readable", wake);
    source.on("end", () => {
      this.#ended = true;
      wake();
    });
    source.on("error", (error) => this.#fail(error));
    source.on("close", () => this.#closed());
    this.closed = new Promise((resolve) => source.once("close", resolve));
    // It may have broken before anyone listened.
    if (source.destroyed) this.#closed();
  }

  /** From now on waits `ms` in all, whatever chunks come meanwhile; a later call starts anew, 0 lifts the limit. */
  waitAtMost(ms: number): void {
    this.#until = ms > 0 ? Date.now() + ms : Number.POSITIVE_INFINITY;
  }

  /** Ends the response with an error that the reader meets at once. */
  destroy(error: unknown): void {
    this.#fail(error);
    this.#source.destroy();
  }

  /** The first chunk, which stays to be read; undefined when the body is empty. */
  async peek(): Promise<Uint8Array | undefined> {
    while (this.#failure === undefined) {
      const chunk: Buffer | null = this.#source.read();
      if (chunk) {
        this.#source.unshift(chunk);
        this.#begun = true;
        return chunk;
      }
      if (this.#ended) return undefined;
      await this.#more();
    }
    throw this.#failure;
  }

  /** The body as text, at most `capBytes` of it; what comes later is not read. */
  async text(capBytes: number): Promise<string> {
    const { text, failure } = await this.textSoFar(capBytes);
    if (failure !== undefined) throw failure;
    return text;
  }

  /** As `text`, but a connection that breaks ends the text; its failure stands beside it. */
  async textSoFar(capBytes: number): Promise<{ text: string; failure?: unknown }> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    const text = () => new TextDecoder().decode(Buffer.concat(chunks).subarray(0, capBytes));
    try {
      for await (const chunk of this) {
        chunks.push(chunk);
        size += chunk.length;
        if (size >= capBytes) break;
      }
    } catch (failure) {
      return { text: text(), failure };
    }
    return { text: text() };
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      while (true) {
        if (this.#failure !== undefined) throw this.#failure;
        const chunk: Buffer | null = this.#source.read();
        if (chunk) {
          this.#begun = true;
          yield chunk;
        } else if (this.#ended) {
          return;
        } else {
          await this.#more();
        }
      }
    } finally {
      this.#leave();
    }
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      const ms = this.#begun ? this.#waits.idleMs : this.#waits.firstByteMs;
      const left = Math.max(1, this.#until - Date.now());
      const waitMs = ms > 0 ? Math.min(ms, left) : left;
      const wake = () => {
        clearTimeout(timer);
        this.#wake = undefined;
        resolve();
      };
      // A process that was busy or asleep meets its timer before the bytes that came meanwhile: those are read first.
      const late = () => void nextTurn().then(() => this.#wake === wake && this.#timeOut(ms));
      const timer = Number.isFinite(waitMs) ? setTimeout(late, waitMs) : undefined;
      this.#wake = wake;
    });
  }

  #timeOut(ms: number): void {
    const reason = this.#begun ? "idle_timeout" : "first_byte_timeout";
    this.destroy(new StreamError(reason, `${this.#waits.host} sent no data for ${seconds(ms)} s`));
  }

  #closed(): void {
    if (!this.#ended) this.#fail(new StreamError("connection", `${this.#waits.host} closed the connection early`));
  }

  #fail(error: unknown): void {
    if (this.#ended) return;
    this.#failure ??= error instanceof StreamError ? error : this.#broken(error);
    this.#wake?.();
  }

  #broken(error: unknown): StreamError {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const compressed = code.startsWith("Z_") || code.startsWith("ERR__ERROR") || code.startsWith("ERR_BROTLI");
    const text = compressed ? "sent damaged compressed data" : "broke off the connection during the answer";
    const options = code === "" ? { cause: error } : { code, cause: error };
    return new StreamError(compressed ? "bad_frame" : "connection", `${this.#waits.host} ${text}`, options);
  }

  #leave(): void {
    if (this.#ended || this.#source.destroyed) return;
    this.#source.removeAllListeners("readable");
    this.#source.resume();
    const timer = setTimeout(() => this.#source.destroy(), LINGER_MS);
    this.#source.once("close", () => clearTimeout(timer));
  }
}

/** Milliseconds as seconds for a reader: 1500 is "1.5". */
export function seconds(ms: number): string {
  return String(Math.round(ms / 100) / 10);
}
