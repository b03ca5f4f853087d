import type { DataAnswer } from "./data-answer.ts";
import type { LimitHit } from "./failure.ts";
import { limited, type RunEnding, type RunOutcome } from "./outcome.ts";

/** Why a chain is being stopped from outside. The first reason holds. */
export type Stop = { by: "abort"; reason?: string } | { by: "limit"; hit: LimitHit };

/** What is in progress: a run, or work beside it that no run may overlap with. */
export type ChainKind = "run" | "compaction" | "navigation";

/**
 * What an accepted prompt starts: a run and everything that follows from it by itself (retries, compaction, queued
 * messages) until the session is settled (law E6). A compaction by hand and a move in the tree are
 * one too, without a run.
 */
export class Chain {
  readonly kind: ChainKind;
  /** What a prompt with a schema is to give. */
  readonly answer: DataAnswer | undefined;
  readonly settled: Promise<RunOutcome>;
  /** A message came after the stop or the end: it starts a chain of its own (report R004). */
  late = false;
  /** Its last run is over, and it is about to settle. */
  ending = false;
  readonly #controller = new AbortController();
  readonly #over = new AbortController();
  #finish: (outcome: RunOutcome) => void = () => undefined;
  #stop: Stop | undefined;
  #wait: AbortController | undefined;

  constructor(kind: ChainKind, answer?: DataAnswer) {
    this.kind = kind;
    this.answer = answer;
    this.settled = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  /** Fires when the chain is being stopped. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Fires when the chain has settled: what it had waiting for ends. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  get stop(): Stop | undefined {
    return this.#stop;
  }

  /** False when it was being stopped already. */
  halt(stop: Stop): boolean {
    if (this.#stop) return false;
    this.#stop = stop;
    // What waited for the end of a compaction is not sent by itself after its abort, as what waited in a run is not.
    if (this.kind !== "run") this.late = false;
    this.#controller.abort();
    this.#wait?.abort();
    return true;
  }

  /** A signal for a wait that `halt` and `wake` cut short. */
  beginWait(): AbortSignal {
    this.#wait = new AbortController();
    if (this.#stop) this.#wait.abort();
    return this.#wait.signal;
  }

  get waiting(): boolean {
    return this.#wait !== undefined && !this.#wait.signal.aborted;
  }

  /** Cuts the wait for a retry short. */
  wake(): void {
    this.#wait?.abort();
  }

  endWait(): void {
    this.#wait = undefined;
  }

  finish(outcome: RunOutcome): void {
    this.#over.abort();
    this.#finish(outcome);
  }
}

/** How a chain that was stopped from outside ended. */
export function stopEnding(stop: Stop): RunEnding {
  if (stop.by === "limit") return limited(stop.hit);
  return { status: "aborted", ...(stop.reason !== undefined && { reason: stop.reason }) };
}
