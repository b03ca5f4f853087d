import { IDLE, nextPhase, type PhaseSignal, type PhaseState } from "./phase.ts";
import type { HostEvent, Phase } from "./session-event.ts";

/** The phase of a session (law X5); every change is announced. */
export class PhaseTracker {
  readonly #emit: (event: HostEvent) => void;
  #state: PhaseState = IDLE;

  constructor(emit: (event: HostEvent) => void) {
    this.#emit = emit;
  }

  get phase(): Phase {
    return this.#state.phase;
  }

  /** @throws PhaseError for a transition that does not exist: a bug */
  signal(signal: PhaseSignal): void {
    const from = this.#state.phase;
    // A reply without a request says why there was none; no stream is processed.
    if (signal === "reply_start" && from !== "calling_llm") return;
    this.#state = nextPhase(this.#state, signal);
    const to = this.#state.phase;
    if (to !== from) this.#emit({ type: "phase", from, to });
  }
}
