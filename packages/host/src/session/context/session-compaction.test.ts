import type { AgentMessage } from "@tau/agent";
import type { Context } from "@tau/llm";
import { failure, reply, type ScriptFunction, scriptedModel, toolCall } from "@tau/llm/testing";
import { describe, expect, it } from "vitest";
import { createCompactor } from "../../compaction/create-compactor.ts";
import { resultLimit } from "../../tools/pipeline/result-cap.ts";
import { cleanUpAfterEach, fileEntries, gate, startSession, textOf, tool } from "../__fixtures__/harness.ts";

cleanUpAfterEach();

const WINDOW = 8_000;
const model = scriptedModel({ contextWindow: WINDOW, maxTokens: 1_000 });
const isSummary = (context: Context) => context.tools === undefined || context.tools.length === 0;
const tokensOf = (context: Context) => JSON.stringify(context.messages).length / 4;

function expectPaired({ messages }: Context): void {
  const open = new Set<string>();
  for (const message of messages) {
    if (message.role === "toolResult") expect(open.delete(message.toolCallId)).toBe(true);
    else expect([...open]).toEqual([]);
    if (message.role !== "assistant") continue;
    for (const block of message.content) if (block.type === "toolCall") open.add(block.id);
  }
  expect([...open]).toEqual([]);
}

/** Answers summaries with notes and everything else with `turns` batches of two calls and an end. */
function worker(turns: number): ScriptFunction {
  let turn = 0;
  return ({ context }) => {
    if (isSummary(context)) return reply("the notes");
    turn += 1;
    return turn <= turns ? reply(toolCall("look"), toolCall("look")) : reply("all done");
  };
}

/** Never the same result twice: that would be a loop. */
function look() {
  let seen = 0;
  return tool("look", () => `${++seen} ${"z".repeat(2_000)}`);
}

const SETTINGS = { enabled: true, reserveTokens: 1_000, keepRecentTokens: 500 };
/** A wait that only an abort ends. */
const hangs = (_ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

describe("a session that compacts", () => {
  it("R113 one long turn never sends a request above the window, and each request is paired", async () => {
    const { session, script, events } = await startSession(worker(30), {
      model,
      tools: [look()],
      compactor: createCompactor(),
    });
    expect(await session.prompt("look around a lot")).toMatchObject({ status: "done" });
    for (const { context } of script.calls) {
      expect(tokensOf(context)).toBeLessThan(WINDOW);
      expectPaired(context);
    }
    const reasons = events.flatMap((event) => (event.type === "compaction_end" && event.result ? [event.reason] : []));
    expect(reasons.length).toBeGreaterThan(1);
    expect(new Set(reasons)).toEqual(new Set(["threshold"]));
  });

  it("R123 what the user asked last stays in every request, word for word", async () => {
    const { session, script } = await startSession(worker(30), {
      model,
      tools: [look()],
      compactor: createCompactor(),
    });
    await session.prompt("look around, but touch nothing in vendor/");
    for (const { context } of script.calls.filter((call) => !isSummary(call.context))) {
      expect(JSON.stringify(context.messages)).toContain("touch nothing in vendor/");
    }
  });

  it("R124 the prompt and its project instructions are the same bytes after a compaction", async () => {
    const sections = { preamble: "You are a test.", context: "MARKER: never use tabs." };
    const options = { model, tools: [look()], compactor: createCompactor(), systemPrompt: { sections } };
    const { session, script, events } = await startSession(worker(30), options);
    await session.prompt("look");
    expect(events.some((event) => event.type === "compaction_end" && event.result)).toBe(true);
    const prompts = script.calls.filter((call) => !isSummary(call.context)).map((call) => call.context.systemPrompt);
    expect(prompts[0]).toContain("MARKER");
    expect(new Set(prompts).size).toBe(1);
  });

  it("R125 what the summary's writer is asked is not a message of the session", async () => {
    const { session, events, store } = await startSession(worker(30), {
      model,
      tools: [look()],
      compactor: createCompactor(),
    });
    await session.prompt("look");
    const ends = events.flatMap((event) => (event.type === "message_end" ? [event.message] : []));
    expect(ends.filter((message) => message.role === "user").map(textOf)).toEqual(["look"]);
    expect(textOf(ends.at(-1))).toBe("all done");
    const users = store.entries().filter((entry) => entry.type === "message" && entry.message.role === "user");
    expect(users).toHaveLength(1);
    expect(fileEntries(store).some((entry) => entry.type === "compaction")).toBe(true);
  });

  it("R118 a compaction that is due while a call runs waits for its result", async () => {
    const steps: ScriptFunction = ({ context }, index) => {
      if (isSummary(context)) return reply("notes");
      return index === 0 ? { ...reply(toolCall("slow")), usage: { input: WINDOW - 100 } } : reply("end");
    };
    const slow = tool("slow", () => "slow result");
    const { session, script, events } = await startSession(steps, {
      model,
      tools: [slow],
      compactor: createCompactor(),
    });
    expect(await session.prompt("p".repeat(20_000))).toMatchObject({ status: "done" });
    expect(events.some((event) => event.type === "compaction_start" && event.reason === "threshold")).toBe(true);
    for (const { context } of script.calls) expectPaired(context);
    expect(JSON.stringify(script.calls.map((call) => call.context.messages))).toContain("slow result");
  });

  it("R118 R293 a compaction by hand aborts the run first, and its calls are closed", async () => {
    const { open, opened } = gate();
    const started = gate();
    const slow = tool("slow", async () => {
      started.open();
      await opened;
      return "slow result";
    });
    const steps: ScriptFunction = ({ context }, index) => {
      if (isSummary(context)) return reply("notes");
      return index === 0 ? reply(toolCall("slow")) : reply("end");
    };
    const { session, script } = await startSession(steps, { model, tools: [slow], compactor: createCompactor() });
    const run = session.prompt("p".repeat(20_000));
    await started.opened;
    const compaction = session.dispatch({ type: "compact" });
    open();
    expect(await run).toMatchObject({ status: "aborted", reason: "The session is compacted." });
    expect(await compaction).toMatchObject({ summary: expect.stringContaining("notes") });
    expect(await session.prompt("and now?")).toMatchObject({ status: "done" });
    for (const { context } of script.calls) expectPaired(context);
  });

  it("R115 empty summaries end in an explanation, not in a loop", async () => {
    const steps: ScriptFunction = ({ context }, index) => {
      if (isSummary(context)) return reply();
      return index > 60 ? reply("end") : reply(toolCall("look"));
    };
    const { session, script, events } = await startSession(steps, {
      model,
      tools: [look()],
      compactor: createCompactor(),
    });
    await session.prompt("look");
    const failed = events.filter((event) => event.type === "compaction_end" && event.errorMessage);
    expect(failed.length).toBeLessThanOrEqual(3);
    expect(script.calls.filter((call) => isSummary(call.context)).length).toBeLessThanOrEqual(6);
  });

  it("R115 that the context is not compacted by itself any more is said once", async () => {
    const steps: ScriptFunction = ({ context }) => (isSummary(context) ? reply() : reply("w".repeat(6_000)));
    const { session, events } = await startSession(steps, { model, tools: [look()], compactor: createCompactor() });
    for (let turn = 0; turn < 10; turn++) await session.prompt(`go ${turn}`);
    const warnings = events.flatMap((event) => (event.type === "warning" ? [event.message] : []));
    expect(warnings.filter((text) => text.includes("could not be compacted"))).toHaveLength(1);
    expect(warnings.join()).toContain("empty summary");
  });

  it("F12 what a summary used is a usage entry of its own, also when the summary was refused, and counts", async () => {
    const usage = { input: 500, output: 50, cost: { total: 0.25 } };
    let notes = "n".repeat(100_000);
    const steps: ScriptFunction = ({ context }) =>
      isSummary(context) ? { ...reply(notes), usage } : reply("w".repeat(3_000));
    const { session, store, events } = await startSession(steps, {
      model: scriptedModel({ contextWindow: 100_000 }),
      tools: [look()],
      compactor: createCompactor(SETTINGS),
      settings: { budget: { maxCost: 0.4 } },
    });
    for (const text of ["one", "two", "three"]) await session.prompt(text);
    await expect(session.dispatch({ type: "compact" })).rejects.toThrow("not shorter");
    const used = () => fileEntries(store).filter(({ type }) => type === "usage");
    expect(used()).toMatchObject([{ kind: "compaction", provider: "scripted", model: "demo", usage: { input: 500 } }]);
    notes = "notes";
    expect(await session.dispatch({ type: "compact" })).toMatchObject({ usage: { output: 50 } });
    expect(used()).toHaveLength(2);
    expect(fileEntries(store).find(({ type }) => type === "compaction")).not.toHaveProperty("usage");
    expect(events.findLast(({ type }) => type === "compaction_end")).toMatchObject({
      result: { usage: { input: 500 } },
    });
    expect(await session.dispatch({ type: "get_session_stats" })).toMatchObject({ cost: 0.5, spent: { cost: 0.5 } });
    expect(await session.prompt("more")).toMatchObject({ status: "limit", limit: "maxCost" });
  });

  it("E2 a summary that fails in passing is made again with the waits of a retry, and an abort ends the wait", async () => {
    const busy = failure("overloaded", "retryable");
    let failures = 2;
    const steps: ScriptFunction = ({ context }) => {
      if (!isSummary(context)) return reply("w".repeat(3_000));
      return failures-- > 0 ? { ...busy, errorDetails: { retryAfterMs: 3_500 } } : reply("notes");
    };
    const options = { tools: [look()], compactor: createCompactor(SETTINGS) };
    const { session, waits, events } = await startSession(steps, options);
    for (const text of ["one", "two", "three"]) await session.prompt(text);
    expect(await session.dispatch({ type: "compact" })).toMatchObject({ summary: expect.stringContaining("notes") });
    expect(waits).toEqual([3_500, 4_000]);
    expect(events.filter(({ type }) => type === "warning")).toHaveLength(2);
    for (const text of ["four", "five"]) await session.prompt(text);
    failures = 9;
    await expect(session.dispatch({ type: "compact" })).rejects.toThrow("overloaded");
    expect(waits).toHaveLength(5);
    await session.dispatch({ type: "set_auto_retry", enabled: false });
    await expect(session.dispatch({ type: "compact" })).rejects.toThrow("overloaded");
    expect(waits).toHaveLength(5);

    const hung = await startSession(steps, { ...options, sleep: hangs });
    for (const text of ["one", "two", "three"]) await hung.session.prompt(text);
    const compaction = hung.session.dispatch({ type: "compact" });
    const settled = expect(compaction).rejects.toThrow("aborted");
    await hung.session.abort();
    await settled;
  });

  it("R113 ten results of one message together stay below the window, and the run continues", async () => {
    const { session, script } = await startSession(
      ({ context }, index) => {
        if (isSummary(context)) return reply("notes");
        return index === 0 ? reply(...Array.from({ length: 10 }, () => toolCall("look"))) : reply("end");
      },
      { model, tools: [tool("look", () => "z".repeat(6_000))], compactor: createCompactor() },
    );
    expect(await session.prompt("look at ten things")).toMatchObject({ status: "done" });
    for (const { context } of script.calls) expect(tokensOf(context)).toBeLessThan(WINDOW);
    expect(JSON.stringify(script.calls.at(-1)?.context.messages)).toContain("characters left out");
  });

  it("R122 a result that no window can take is cut, its whole is kept, and the session continues", async () => {
    const kept: string[] = [];
    const keepWhole = async (text: string) => `/kept/${kept.push(text)}`;
    const huge = tool("huge", () => `begin${"h".repeat(2_000_000)}end`);
    const options = { model: scriptedModel({ contextWindow: 131_000 }), tools: [huge], keepWhole };
    const { session, script } = await startSession([reply(toolCall("huge")), reply("ok")], options);
    expect(await session.prompt("go")).toMatchObject({ status: "done" });
    const result = script.calls[1]?.context.messages.at(-1) as AgentMessage;
    expect(textOf(result).length).toBeLessThan(resultLimit(131_000) + 300);
    expect(textOf(result)).toMatch(/^begin.*end$/s);
    expect(textOf(result)).toContain("characters left out; the whole is in /kept/1]");
    expect(kept[0]).toHaveLength(2_000_008);
  });
});
