import type { HostEvent, Phase } from "./session-event.ts";

/**
 * Where each phase may lead (law X5). The tool phases lead to each other, since calls of one batch run side by side;
 * every phase of a run leads to its end, since an abort may come at any moment.
 */
export const PHASE_TRANSITIONS: Readonly<Record<Phase, readonly Phase[]>> = {
  idle: ["building_context"],
  building_context: ["calling_llm", "turn_complete"],
  calling_llm: ["processing_stream", "turn_complete"],
  processing_stream: ["checking_permission", "executing_tool", "turn_complete"],
  checking_permission: ["waiting_for_approval", "executing_tool", "turn_complete"],
  waiting_for_approval: ["checking_permission", "executing_tool", "turn_complete"],
  executing_tool: ["checking_permission", "waiting_for_approval", "turn_complete"],
  turn_complete: ["building_context", "waiting_for_input"],
  waiting_for_input: ["building_context", "idle"],
};

/** What moves the machine. `ask_*`, `check_*` and `tool_*` come in pairs and may overlap in a parallel batch. */
export type PhaseSignal =
  | "turn_start"
  | "request"
  | "reply_start"
  | "check_start"
  | "check_end"
  | "ask_start"
  | "ask_end"
  | "tool_start"
  | "tool_end"
  | "turn_end"
  | "run_over"
  | "settled";

/** The phase and how many calls of the batch are being checked, asked about and run. */
export interface PhaseState {
  readonly phase: Phase;
  readonly checking: number;
  readonly asking: number;
  readonly running: number;
}

export const IDLE: PhaseState = { phase: "idle", checking: 0, asking: 0, running: 0 };

/** A transition that the table does not list was asked for: a bug. */
export class PhaseError extends Error {
  override readonly name = "PhaseError";
}

/** Where a signal leads that does not speak of a single call. */
const TARGETS: Partial<Record<PhaseSignal, Phase>> = {
  turn_start: "building_context",
  request: "calling_llm",
  reply_start: "processing_stream",
  turn_end: "turn_complete",
  run_over: "waiting_for_input",
  settled: "idle",
};

const COUNTS: Partial<Record<PhaseSignal, Partial<Record<"checking" | "asking" | "running", 1 | -1>>>> = {
  check_start: { checking: 1 },
  check_end: { checking: -1 },
  ask_start: { asking: 1 },
  ask_end: { asking: -1 },
  tool_start: { running: 1 },
  tool_end: { running: -1 },
};

/**
 * The state after a signal. An open question shows before a check, a check before a running tool.
 * @throws PhaseError for a transition that is not in the table
 */
export function nextPhase(state: PhaseState, signal: PhaseSignal): PhaseState {
  const target = TARGETS[signal];
  if (target) return enter({ ...state, checking: 0, asking: 0, running: 0 }, target);
  const change = COUNTS[signal] ?? {};
  const counted = {
    phase: state.phase,
    checking: Math.max(0, state.checking + (change.checking ?? 0)),
    asking: Math.max(0, state.asking + (change.asking ?? 0)),
    running: Math.max(0, state.running + (change.running ?? 0)),
  };
  const shown = toolPhase(counted);
  return shown ? enter(counted, shown) : counted;
}

function toolPhase({ checking, asking, running }: PhaseState): Phase | undefined {
  if (asking > 0) return "waiting_for_approval";
  if (checking > 0) return "checking_permission";
  return running > 0 ? "executing_tool" : undefined;
}

function enter(state: PhaseState, to: Phase): PhaseState {
  if (state.phase === to) return state;
  if (!PHASE_TRANSITIONS[state.phase].includes(to)) {
    throw new PhaseError(`There is no way from phase ${state.phase} to ${to}.`);
  }
  return { ...state, phase: to };
}

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
