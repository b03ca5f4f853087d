/** What a race gives when the run does not wait for the work any longer. */
export const CUT: unique symbol = Symbol("cut");
/** How long an abort waits by default, in milliseconds. */
export const GRACE_MS = 1000;
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

  constructor(signal: AbortSignal, graceMs = GRACE_MS) {
    this.signal = signal;
    this.#onAbort = () => {
      this.#cut("abort");
      this.#timer = setTimeout(() => this.#cut("grace"), graceMs);
    };
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Runs `work` and waits as long as `patience` allows. `late` is told a value that came after that. */
  race<T>(work: () => T | PromiseLike<T>, patience: Patience, late?: (value: T) => void): Promise<T | typeof CUT> {
    if (patience === "abort" ? this.signal.aborted : this.#over) return Promise.resolve(CUT);
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
