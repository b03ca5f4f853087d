import { reply, thinking } from "@tau/llm/testing";
import { describe, expect, it } from "vitest";
import type { Rig } from "./__fixtures__/kit.ts";
import {
  assistants,
  call,
  eventFaults,
  outline,
  pairingFaults,
  results,
  rig,
  textOf,
  tool,
  types,
} from "./__fixtures__/kit.ts";

const limitOf = ({ events }: Rig) => {
  const end = events.at(-1);
  return end?.type === "agent_end" ? end.limit : undefined;
};
const told = ({ agent }: Rig) => agent.state.messages.filter((message) => message.role === "custom").map(textOf);
const cut = (...content: Parameters<typeof reply>) => ({ ...reply(...content), stopReason: "length" as const });

describe("limits", () => {
  it("T8 maxTurns ends the run with a reason that model and program can read", async () => {
    let turns = 0;
    const one = rig(() => reply(call("a", { turns: turns++ })), {
      tools: [tool("a", () => String(turns))],
      limits: { maxTurns: 3 },
    });
    one.agent.followUp("waiting");
    await one.agent.prompt("go");
    expect(one.script.calls).toHaveLength(3);
    expect(limitOf(one)).toBe("maxTurns");
    expect(told(one)[0]).toMatch(/turns/);
    expect(one.agent.hasQueuedMessages()).toBe(true);
    expect(eventFaults(one.events)).toEqual([]);
    await one.agent.prompt("what happened?");
    const next = one.script.calls[3]?.context.messages ?? [];
    expect(next.map(textOf).join("\n")).toMatch(/stopped.*turns/);
    expect(pairingFaults(next)).toEqual([]);
    const exact = rig([reply(call("a")), reply("done")], { tools: [tool("a")], limits: { maxTurns: 2 } });
    await exact.agent.prompt("go");
    expect(limitOf(exact)).toBeUndefined();
  });

  it("T8 a message that was taken for a turn over the limit goes back to its queue", async () => {
    const one = rig([reply("first")], { limits: { maxTurns: 1 } });
    one.agent.followUp("next");
    one.agent.followUp("last");
    await one.agent.prompt("go");
    expect(limitOf(one)).toBe("maxTurns");
    expect(one.agent.clearAllQueues().followUp.map(textOf)).toEqual(["next", "last"]);
  });

  it("T8 maxConsecutiveLengthStops counts cut replies in a row only", async () => {
    const one = rig(
      [cut(call("a")), cut(call("a")), reply(call("a")), cut(call("a")), cut(call("a")), cut(call("a"))],
      { tools: [tool("a")] },
    );
    await one.agent.prompt("go");
    one.script.assertDone();
    expect(limitOf(one)).toBe("maxConsecutiveLengthStops");
    const own = rig([cut(call("a"))], { tools: [tool("a")], limits: { maxConsecutiveLengthStops: 1 } });
    await own.agent.prompt("go");
    expect(limitOf(own)).toBe("maxConsecutiveLengthStops");
  });

  it("R007 a reply of thinking alone that was cut off is continued, then ends visibly", async () => {
    const one = rig([cut(thinking("hm")), cut(thinking("hm")), reply("answer")]);
    await one.agent.prompt("go");
    expect(textOf(one.agent.state.messages.at(-1))).toBe("answer");
    const never = rig([cut(thinking("hm")), cut(), cut(thinking("hm"))]);
    await never.agent.prompt("go");
    never.script.assertDone();
    expect(limitOf(never)).toBe("maxConsecutiveLengthStops");
    expect(told(never)[0]).toMatch(/output limit/);
    const visible = rig([cut("half an answer")]);
    await visible.agent.prompt("go");
    visible.script.assertDone();
    expect(assistants(visible.agent.state.messages)[0]?.stopReason).toBe("length");
  });

  it("R008 the same call with the same result is reported from the 5th on and ends the run at the 20th", async () => {
    const one = rig(() => reply(call("grep", { pattern: "x" })), { tools: [tool("grep", () => "no match")] });
    await one.agent.prompt("go");
    expect(one.script.calls).toHaveLength(20);
    expect(limitOf(one)).toBe("maxIdenticalCalls");
    const texts = results(one.agent.state.messages).map(textOf);
    expect(texts.slice(0, 4)).toEqual(Array.from({ length: 4 }, () => "no match"));
    expect(texts[4]).toMatch(/^no match.*5 times/s);
    expect(texts[19]).toMatch(/20 times/);
    expect(told(one)[0]).toMatch(/same/);
  });

  it("T8 R009 short cycles count like repetitions, over turns", async () => {
    for (const cycle of [2, 3, 4, 6, 12]) {
      let step = 0;
      const one = rig(() => reply(call("look", { at: step++ % cycle })), {
        tools: [tool("look", ({ at }) => `nothing ${at}`)],
        limits: { maxIdenticalCalls: 6 },
      });
      await one.agent.prompt("go");
      expect(limitOf(one)).toBe("maxIdenticalCalls");
      expect(one.script.calls).toHaveLength(5 * cycle + 1);
    }
  });

  it("R009 polling whose result changes, and calls that change, are not taken for a loop", async () => {
    let polls = 0;
    const polling = rig(() => (polls < 40 ? reply(call("status")) : reply("up")), {
      tools: [tool("status", () => `starting ${++polls}`)],
    });
    await polling.agent.prompt("go");
    expect(limitOf(polling)).toBeUndefined();
    let step = 0;
    const working = rig(() => (step < 40 ? reply(call("read", { n: step++ })) : reply("done")), {
      tools: [tool("read", () => "same")],
    });
    await working.agent.prompt("go");
    expect(limitOf(working)).toBeUndefined();
    const all = [...results(polling.agent.state.messages), ...results(working.agent.state.messages)].map(textOf);
    expect(all.filter((text) => text.includes("in a row"))).toEqual([]);
  });

  it("R010 an answer without calls is one request, an empty reply is asked for once more, then reported", async () => {
    const plain = rig([reply("done")]);
    await plain.agent.prompt("go");
    plain.script.assertDone();
    for (const empty of [
      reply(),
      reply(""),
      reply("  \n"),
      reply(thinking("so")),
      { ...reply(), stopReason: "toolUse" as const },
    ]) {
      const twice = rig([empty, empty]);
      await twice.agent.prompt("go");
      twice.script.assertDone();
      expect(told(twice)[0]).toMatch(/empty/);
      expect(eventFaults(twice.events)).toEqual([]);
      const once = rig([empty, reply("here")]);
      await once.agent.prompt("go");
      once.script.assertDone();
      expect(told(once)).toEqual([]);
      expect(outline(once.script.calls[1]?.context.messages ?? [])).toEqual(
        outline(once.script.calls[0]?.context.messages ?? []),
      );
    }
    const never = rig([reply()], { limits: { maxEmptyRetries: 0 } });
    await never.agent.prompt("go");
    never.script.assertDone();
  });

  it("R010 the model's end is the end: no further request, whatever it was before", async () => {
    const one = rig([reply(call("a")), reply("done")], { tools: [tool("a")] });
    await one.agent.prompt("go");
    one.script.assertDone();
    expect(types(one.events).filter((type) => type === "turn_start")).toHaveLength(2);
  });
});
