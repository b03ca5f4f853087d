import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import type { HostEvent } from "../events/session-event.ts";
import { Questions } from "./questions.ts";

const request = { toolCallId: "1", toolName: "rm", args: {} };

describe("open questions", () => {
  it.each([{ decision: "allow" }, { decision: "deny", reason: "no" }] as const)(
    "R333 an answered question leaves nothing at the signal of the run: %j",
    async (answer) => {
      const { signal } = new AbortController();
      const questions = new Questions(() => undefined);
      for (let count = 1; count <= 20; count++) {
        const asked = questions.ask(request, "why", signal);
        expect(getEventListeners(signal, "abort")).toHaveLength(1);
        questions.respond(`permission_${count}`, answer);
        expect(await asked).toEqual(answer);
      }
      expect(getEventListeners(signal, "abort")).toHaveLength(0);
      expect(questions.open).toEqual([]);
    },
  );

  it("P6 an abort denies what is open, also when it came before the question, and each is reported once", async () => {
    const events: HostEvent[] = [];
    const controller = new AbortController();
    const questions = new Questions((event) => events.push(event));
    const before = questions.ask(request, "why", controller.signal);
    controller.abort();
    const after = questions.ask(request, "why", controller.signal);
    for (const asked of [before, after]) expect(await asked).toMatchObject({ decision: "deny" });
    expect(questions.respond("permission_1", { decision: "allow" })).toBe(false);
    expect(events.map(({ type }) => type).sort()).toEqual([
      ...["permission_request", "permission_request"],
      ...["permission_resolved", "permission_resolved"],
    ]);
  });
});
