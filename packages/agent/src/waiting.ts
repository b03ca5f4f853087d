import type { Emit } from "./config.ts";
import { errorText, guarded } from "./values.ts";

/** What a race gives when the run does not wait for the work any longer. */
export const CUT: unique symbol = Symbol("cut");
type Patience = "abort" | "grace";

/**
 * How long a run waits for anything: to its abort, or to the end of the grace after it. There is one timer for all, so
 * that all waits after an abort together last no longer than one grace (law R8).
 */
export class Cutoff {
  readonly signal: AbortSignal;
  readonly #waiting = { abort: new Set<() => void>(), grace: new Set<() => void>() };
  readonly #onAbort: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #over = false;

  constructor(signal: AbortSignal, graceMs = 1000) {
    this.signal = signal;
    this.#onAbort = () => {
      this.#cut("abort");
      this.#timer = setTimeout(() => this.#cut("grace"), graceMs);
    };
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  get aborted(): boolean {
    return this.signal.aborted;
  }

  /** Runs `work` and waits as long as `patience` allows. `late` is told a value that came after that. */
  race<T>(work: () => T | PromiseLike<T>, patience: Patience, late?: (value: T) => void): Promise<T | typeof CUT> {
    if (patience === "abort" ? this.aborted : this.#over) return Promise.resolve(CUT);
    const waiting = this.#waiting[patience];
    return new Promise((resolve, reject) => {
      const cut = () => resolve(CUT);
      waiting.add(cut);
      const begun = (async () => work())();
      begun.then((value) => (waiting.delete(cut) ? resolve(value) : late?.(value)), reject);
      begun.catch(() => waiting.delete(cut));
    });
  }

  /** Releases listener and timer when the run is over. */
  close(): void {
    this.signal.removeEventListener("abort", this.#onAbort);
    clearTimeout(this.#timer);
  }

  #cut(patience: Patience): void {
    this.#over = patience === "grace";
    for (const cut of this.#waiting[patience]) cut();
    this.#waiting[patience].clear();
  }
}

/** At most `count` holders at a time, first come first served. */
export function createSlots(count: number) {
  let free = Math.max(1, count);
  let next = 0;
  const waiting: (() => void)[] = [];
  const take = async () => void (--free < 0 && (await new Promise<void>((resolve) => waiting.push(resolve))));
  return { take, release: () => ++free <= 0 && waiting[next++]?.() };
}

let next: Promise<void> | undefined;

/** One turn of the event loop, so that timers and input stay alive (law T7). All who wait share it. */
export function tick(): Promise<void> {
  const schedule = typeof setImmediate === "undefined" ? setTimeout : setImmediate;
  next ??= new Promise<void>((resolve) => schedule(resolve)).finally(() => {
    next = undefined;
  });
  return next;
}

/** Delivers one event at a time, in order, without a promise where none is needed. A throw becomes `listener_error` (law L3). */
export function serialEmit(emit: Emit): Emit {
  let last: Promise<void> | undefined;
  const deliver: Emit = (event) => {
    // When the report itself fails nobody is left to tell.
    const failed = async (error: unknown) => {
      const report = { type: "listener_error" as const, event: event.type, error: errorText(error) };
      if (event.type !== report.type) await deliver(report);
    };
    return guarded(() => emit(event), failed);
  };
  return (event) => {
    const settled = (last ? last.then(() => deliver(event)) : deliver(event))?.then(() => {
      if (last === settled) last = undefined;
    });
    last = settled ?? last;
    return settled;
  };
}
