import type { Context } from "@tau/llm";
import { failure, reply, type ScriptReply, thinking, toolCall } from "@tau/llm/testing";
import { describe, expect, it } from "vitest";
import type { CompactionRequest, Compactor } from "../../compaction/compactor.ts";
import { cleanUpAfterEach, fileEntries, said, startSession, tool } from "../__fixtures__/harness.ts";

cleanUpAfterEach();

const roles = (context: Context | undefined) => context?.messages.map(({ role }) => role);

/** A compactor that keeps the last message, when it is asked to. */
function fakeCompactor(compact?: (request: CompactionRequest) => Promise<never>): Compactor & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    shouldCompact: () => false,
    compact: async (request) => {
      asked.push(request.reason);
      if (compact) return compact(request);
      const { entryIds } = request.store.projection();
      return { summary: "what was", firstKeptEntryId: entryIds.at(-1) ?? "", tokensBefore: request.tokens };
    },
  };
}

describe("a full context and a cut answer", () => {
  it("E4 an overflow drops the attempt, compacts, and is tried once more", async () => {
    const compactor = fakeCompactor();
    const { session, script, events, store } = await startSession(
      [reply("one"), failure("prompt is too long", "overflow"), reply("two")],
      { compactor },
    );
    await session.prompt("first");
    expect(await session.prompt("second")).toMatchObject({ status: "done" });
    expect(compactor.asked).toEqual(["overflow"]);
    expect(roles(script.calls[2]?.context)).toEqual(["user", "user"]);
    expect(JSON.stringify(script.calls[2]?.context)).toContain("what was");
    expect(script.calls[2]?.context.systemPrompt).toBe("You are a test.");
    const ends = events.filter(({ type }) => type.startsWith("compaction"));
    expect(ends).toMatchObject([
      { type: "compaction_start", reason: "overflow" },
      { type: "compaction_end", reason: "overflow", willRetry: true, aborted: false, result: { summary: "what was" } },
    ]);
    expect(fileEntries(store).filter(({ type }) => type === "compaction")).toHaveLength(1);
  });

  it("R114 a second overflow, or a compaction that fails, is the end: both errors show and the session is usable", async () => {
    const compactor = fakeCompactor();
    const full = failure("too long", "overflow");
    const twice = await startSession([full, full, reply("ok")], { compactor });
    expect(await twice.session.prompt("go")).toMatchObject({ status: "error", errorMessage: "too long" });
    expect(compactor.asked).toEqual(["overflow"]);
    expect(await twice.session.prompt("again")).toMatchObject({ status: "done" });

    const failing = fakeCompactor(() => Promise.reject(new Error("no credit for the summary")));
    const once = await startSession([full, reply("ok")], { compactor: failing });
    const errorMessage =
      "too long (compaction failed: no credit for the summary). " +
      "Start a new session, or choose a model with a larger context window.";
    expect(await once.session.prompt("go")).toMatchObject({ status: "error", errorMessage });
    expect(once.events).toContainEqual(
      expect.objectContaining({ type: "compaction_end", willRetry: false, errorMessage: "no credit for the summary" }),
    );
    expect(await once.session.prompt("again")).toMatchObject({ status: "done" });
  });

  it("R116 no output with a full window is an overflow, whatever the server calls it", async () => {
    const compactor = fakeCompactor();
    const { session, script } = await startSession(
      [{ ...reply(), stopReason: "length", usage: { input: 199_900 } }, reply("ok")],
      { compactor },
    );
    expect(await session.prompt("go")).toMatchObject({ status: "done" });
    expect([compactor.asked, script.calls.length]).toEqual([["overflow"], 2]);
  });

  it("R113 compaction is asked before the prompt, between turns and after the run", async () => {
    const asked: number[] = [];
    const compactor: Compactor = {
      shouldCompact: ({ tokens }) => asked.push(tokens) < 0,
      compact: () => Promise.reject(new Error("not asked")),
    };
    const { session } = await startSession([reply(toolCall("calc")), reply("end")], {
      compactor,
      tools: [tool("calc", () => "x".repeat(4000))],
    });
    await session.prompt("y".repeat(400));
    expect(asked).toHaveLength(3);
    expect(asked[0]).toBeGreaterThanOrEqual(100);
    expect(asked[1]).toBeGreaterThan(1000);
  });

  it("R113 a compaction between turns changes what the next request of the same run sends", async () => {
    const ran: string[] = [];
    const compactor: Compactor = { shouldCompact: () => ran.shift() === "big", compact: keepLastCall };
    const tools = [tool("big", () => void ran.push("big")), tool("small")];
    const { session, script, events } = await startSession(
      [reply(toolCall("big")), reply(toolCall("small")), reply("end")],
      { compactor, tools },
    );
    expect(await session.prompt("go")).toMatchObject({ status: "done" });
    expect(JSON.stringify(script.calls[1]?.context)).toContain("cut here");
    expect(roles(script.calls[2]?.context)).toEqual(["user", "assistant", "toolResult", "assistant", "toolResult"]);
    expect(events.filter(({ type }) => type === "compaction_end")).toHaveLength(1);
    expect(said(session.messages).at(-1)).toBe("assistant: end");
  });

  it("R007 an answer cut before any text is asked again a bounded number of times and ends visibly", async () => {
    const cut: ScriptReply = { ...reply(thinking("hm")), stopReason: "length", usage: { input: 100, output: 500 } };
    const bounded = await startSession([cut, cut, cut]);
    expect(await bounded.session.prompt("go")).toMatchObject({ status: "limit", limit: "maxConsecutiveLengthStops" });
    const partly = await startSession([{ ...reply("The first half"), stopReason: "length" }]);
    expect(await partly.session.prompt("go")).toMatchObject({ status: "done" });
    expect(partly.events).toContainEqual({ type: "warning", message: expect.stringContaining("output limit") });
  });

  it("R010 R036 an empty answer is asked for once more, then it is a visible failure", async () => {
    const { session, script } = await startSession([reply(), reply()]);
    expect(await session.prompt("go")).toMatchObject({
      status: "error",
      errorMessage: expect.stringContaining("empty"),
    });
    expect(script.calls).toHaveLength(2);
  });
});

async function keepLastCall({ store, tokens }: CompactionRequest) {
  const { messages, entryIds } = store.projection();
  const at = messages.findLastIndex(({ role }) => role === "assistant");
  return { summary: "cut here", firstKeptEntryId: entryIds[at] ?? "", tokensBefore: tokens };
}
