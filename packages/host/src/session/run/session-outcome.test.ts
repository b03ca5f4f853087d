import { failure, reply, toolCall } from "@tau/llm/testing";
import { describe, expect, it } from "vitest";
import type { Compactor } from "../../compaction/compactor.ts";
import { cleanUpAfterEach, startSession, tool } from "../__fixtures__/harness.ts";

cleanUpAfterEach();

const usage = (input: number, total: number) => ({ input, output: 10, cost: { total } });

describe("what a prompt gives", () => {
  it("R282 R274 the last whole answer, and the usage and cost of all its requests, also in agent_settled", async () => {
    const { session, events } = await startSession(
      [
        { ...reply("I look.", toolCall("calc")), usage: usage(100, 0.01) },
        { ...failure("busy", "retryable"), usage: usage(50, 0.02) },
        { ...reply("It is ", "four."), usage: usage(200, 0.03) },
        { ...reply("next"), usage: usage(1, 0.5) },
      ],
      { tools: [tool("calc")] },
    );
    const outcome = await session.prompt("go");
    expect(outcome).toMatchObject({ status: "done", text: "It is four.", usage: { input: 350, output: 30 } });
    expect(outcome.cost).toBeCloseTo(0.06);
    expect(outcome.usage.cost.total).toBeCloseTo(0.06);
    expect(events.findLast(({ type }) => type === "agent_settled")).toMatchObject({ outcome });
    expect(await session.prompt("and?")).toMatchObject({ text: "next", cost: 0.5, usage: { input: 1 } });
  });

  it("R282 a prompt that failed has what it used and the last whole answer, never half of one", async () => {
    const { session } = await startSession(
      [
        { ...reply("I look.", toolCall("calc")), usage: usage(100, 0.01) },
        { ...failure("no credit", "quota"), content: ["half an ans"], usage: usage(1, 0.02) },
        { ...reply("whole"), usage: usage(1, 0.04) },
      ],
      { tools: [tool("calc")] },
    );
    expect(await session.prompt("go")).toMatchObject({
      status: "error",
      failure: { code: "provider_error", params: { text: "no credit" } },
      text: "I look.",
      usage: { input: 101 },
      cost: 0.03,
    });
    expect(await session.prompt("again")).toMatchObject({ status: "done", text: "whole", cost: 0.04 });
  });

  it("R282 what a summary used counts", async () => {
    const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.25 };
    const used = { input: 7, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 8, cost };
    const compactor: Compactor = {
      shouldCompact: () => false,
      compact: async ({ store }) => {
        const firstKeptEntryId = store.branch().find(({ type }) => type === "message")?.id ?? "";
        return { summary: "s", firstKeptEntryId, tokensBefore: 1, usage: used };
      },
    };
    const { session } = await startSession(
      [failure("too long", "overflow"), { ...reply("ok"), usage: usage(3, 0.5) }],
      { compactor },
    );
    expect(await session.prompt("go")).toMatchObject({ status: "done", text: "ok", cost: 0.75, usage: { input: 10 } });
  });

  it("R273 a run of identical calls names the call, the count and the setting", async () => {
    const { session, events } = await startSession(() => reply(toolCall("calc", { n: 7 })), {
      tools: [tool("calc")],
      settings: { limits: { maxIdenticalCalls: 6 } },
    });
    const outcome = await session.prompt("go");
    expect(outcome).toMatchObject({
      status: "limit",
      limit: "maxIdenticalCalls",
      params: { most: 6, call: 'calc {"n":7}' },
      message: expect.stringMatching(/the call calc \{"n":7\} .* 6 times.*limits\.maxIdenticalCalls/),
    });
    expect(events).toContainEqual(expect.objectContaining({ type: "warning", settling: true }));
  });
});
