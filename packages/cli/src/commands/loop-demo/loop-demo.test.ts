import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { calculate } from "./calculate.ts";
import { canonicalJson, FINGERPRINT, transcriptHash } from "./canonical.ts";
import { checkRun, runLoopOnce, WAYS } from "./loop-demo.ts";

describe("the demo of the loop", () => {
  it.each(Object.keys(WAYS))("D1 the events of a tool round trip come in order through %s", async (way) => {
    const { order } = await runLoopOnce(way);
    expect(order).toEqual([
      "agent_start",
      "turn_start",
      "message_end user",
      "message_end assistant",
      "tool_execution_start",
      "tool_execution_end",
      "message_end toolResult",
      "turn_start",
      "message_end assistant",
      "agent_end",
    ]);
  });

  it.each(Object.keys(WAYS))(
    "D2 the tool ran, was fed back, nothing is open, all is idle, two requests: %s",
    async (way) => {
      const run = await runLoopOnce(way);
      expect(Object.entries(checkRun(run)).filter(([, holds]) => !holds)).toEqual([]);
      run.script.assertDone();
    },
  );

  it.each(Object.keys(WAYS))("D3 the canonical transcript has one fingerprint: %s", async (way) => {
    for (let i = 0; i < 2; i++) expect(transcriptHash((await runLoopOnce(way)).messages)).toBe(FINGERPRINT);
  });

  it("D3 the canonical form sorts keys and leaves out what differs from run to run", () => {
    expect(canonicalJson([{ b: { d: 1, c: 2 }, a: [3], timestamp: 9, durationMs: 4 }])).toBe(
      '[{"a":[3],"b":{"c":2,"d":1}}]',
    );
  });

  it("D1 the tool calculates digits and the four operators, and nothing else", () => {
    expect(calculate("12*3+6")).toBe(42);
    expect(calculate("2+3*4-10/5")).toBe(12);
    for (const other of ["", "1+", "process.exit(1)", "1 + 1", "2**3", "(1)", "1e3", "0x10", "-1"]) {
      expect(() => calculate(other), other).toThrow("only digits");
    }
    const operator = fc.constantFrom("+", "-", "*", "/");
    const expression = fc.array(fc.tuple(operator, fc.integer({ min: 1, max: 99 })), { maxLength: 8 });
    const property = fc.property(fc.integer({ min: 0, max: 99 }), expression, (first, rest) => {
      const text = `${first}${rest.map(([sign, number]) => sign + number).join("")}`;
      expect(calculate(text)).toBeCloseTo(Number(new Function(`return ${text}`)()), 9);
    });
    fc.assert(property);
  });
});
