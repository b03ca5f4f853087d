import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { IDLE, nextPhase, PHASE_TRANSITIONS, PhaseError, type PhaseSignal, type PhaseState } from "./phase.ts";
import type { Phase } from "./session-event.ts";

function walk(signals: readonly PhaseSignal[]): Phase[] {
  const phases: Phase[] = [];
  let state: PhaseState = IDLE;
  for (const signal of signals) {
    const next = nextPhase(state, signal);
    if (next.phase !== state.phase) phases.push(next.phase);
    state = next;
  }
  return phases;
}

describe("phases", () => {
  it("X5 a turn with a question passes through every phase in the listed order", () => {
    const tool: PhaseSignal[] = ["check_start", "ask_start", "ask_end", "check_end", "tool_start", "tool_end"];
    const turn: PhaseSignal[] = ["turn_start", "request", "reply_start", ...tool, "turn_end"];
    expect(walk([...turn, "run_over", "settled"])).toEqual([
      "building_context",
      "calling_llm",
      "processing_stream",
      "checking_permission",
      "waiting_for_approval",
      "checking_permission",
      "executing_tool",
      "turn_complete",
      "waiting_for_input",
      "idle",
    ]);
  });

  it("X5 an open question of one call shows while another call runs", () => {
    const start: PhaseSignal[] = ["turn_start", "request", "reply_start", "check_start", "check_end", "tool_start"];
    expect(walk([...start, "check_start", "ask_start", "tool_end"]).at(-1)).toBe("waiting_for_approval");
    expect(walk([...start, "check_start", "ask_start", "ask_end", "check_end"]).at(-1)).toBe("executing_tool");
  });

  it("X5 only listed transitions exist", () => {
    expect(() => walk(["request"])).toThrow(PhaseError);
    expect(() => walk(["turn_start", "tool_start"])).toThrow(PhaseError);
    expect(() => walk(["turn_start", "request", "reply_start", "turn_end", "request"])).toThrow(PhaseError);
  });

  it("X5 random signals give listed transitions or a PhaseError, never anything else", () => {
    const signals: PhaseSignal[] = ["turn_start", "request", "reply_start", "check_start", "check_end", "ask_start"];
    signals.push("ask_end", "tool_start", "tool_end", "turn_end", "run_over", "settled");
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...signals), { maxLength: 60 }), (list) => {
        let state: PhaseState = IDLE;
        for (const signal of list) {
          try {
            const next = nextPhase(state, signal);
            if (next.phase !== state.phase) expect(PHASE_TRANSITIONS[state.phase]).toContain(next.phase);
            state = next;
          } catch (error) {
            expect(error).toBeInstanceOf(PhaseError);
          }
        }
      }),
    );
  });
});
