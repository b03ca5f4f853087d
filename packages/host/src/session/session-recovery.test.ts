import type { AgentMessage } from "@tau/agent";
import type { Context } from "@tau/llm";
import { failure, reply, type ScriptReply, scriptedModel, text, thinking, toolCall } from "@tau/llm/testing";
import { describe, expect, it } from "vitest";
import type { CompactionRequest, Compactor } from "../compaction/compactor.ts";
import {
  cleanUpAfterEach,
  fileEntries,
  gate,
  newStore,
  other,
  reopen,
  said,
  startSession,
  textOf,
  tool,
} from "./__fixtures__/harness.ts";

cleanUpAfterEach();

const busy = failure("overloaded", "retryable");
const shown = (context: Context | undefined) => JSON.stringify(context?.messages);
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

describe("recovery", () => {
  it("E2 a transient failure is tried again with growing waits, and the retry sends what the attempt sent (R3, F8)", async () => {
    const { session, script, store, events, waits } = await startSession([busy, busy, reply("there")]);
    expect(await session.prompt("go")).toEqual({ status: "done" });
    script.assertDone();
    expect(waits).toEqual([2000, 4000]);
    expect(shown(script.calls[2]?.context)).toBe(shown(script.calls[0]?.context));
    const retries = events.filter(({ type }) => type.startsWith("auto_retry"));
    expect(retries).toEqual([
      { type: "auto_retry_start", attempt: 1, maxAttempts: 3, delayMs: 2000, errorMessage: "overloaded" },
      { type: "auto_retry_start", attempt: 2, maxAttempts: 3, delayMs: 4000, errorMessage: "overloaded" },
      { type: "auto_retry_end", success: true, attempt: 2 },
    ]);
    expect(said(session.messages)).toEqual(["user: go", "assistant: there"]);
    const entries = fileEntries(store);
    expect(entries.filter(({ type }) => type === "context_edit")).toHaveLength(2);
    expect(JSON.stringify(entries)).toContain("overloaded");
  });

  it("E2 retries used up end with the error, the count starts anew with the next prompt", async () => {
    const { session, events, waits } = await startSession([busy, busy, busy, busy, busy, reply("ok")]);
    const outcome = await session.prompt("go");
    expect(outcome).toEqual({ status: "error", errorMessage: "overloaded (after 3 retries)", errorKind: "retryable" });
    expect(events.filter(({ type }) => type === "auto_retry_end")).toEqual([
      { type: "auto_retry_end", success: false, attempt: 3, finalError: "overloaded (after 3 retries)" },
    ]);
    expect(await session.prompt("again")).toEqual({ status: "done" });
    expect(waits).toHaveLength(4);
  });

  it("E2 an abort during the wait settles at once", async () => {
    const waiting = gate();
    const sleep = (_ms: number, signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        waiting.open();
        signal.addEventListener("abort", () => resolve());
      });
    const { session, script, events } = await startSession([busy, reply("next")], { sleep });
    const run = session.prompt("go");
    await waiting.opened;
    await session.abort();
    expect(await run).toEqual({ status: "aborted" });
    expect(script.calls).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ type: "agent_settled", aborted: true });
    expect(events.filter(({ type }) => type === "auto_retry_end")).toHaveLength(1);
    expect(await session.prompt("on")).toEqual({ status: "done" });
  });

  it("E2 abort_retry gives the retry up and shows the error, a steering message waits for it", async () => {
    const waiting = gate();
    const sleep = (_ms: number, signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        waiting.open();
        signal.addEventListener("abort", () => resolve());
      });
    const { session, script } = await startSession([busy], { sleep });
    const run = session.prompt("go");
    await waiting.opened;
    session.steer("and this");
    expect(await session.dispatch({ type: "abort_retry" })).toBe(true);
    expect(await run).toMatchObject({ status: "error", errorMessage: "overloaded" });
    expect(script.calls).toHaveLength(1);
    expect(session.takeQueued()).toEqual({ steering: ["and this"], followUp: [] });
  });

  it("E2 set_auto_retry off shows the first failure", async () => {
    const { session, waits } = await startSession([busy]);
    await session.dispatch({ type: "set_auto_retry", enabled: false });
    expect(await session.prompt("go")).toMatchObject({ status: "error" });
    expect(waits).toEqual([]);
  });

  it("R019 R023 a reply that broke off midway is tried again: its text is not there twice and no call runs twice", async () => {
    let ran = 0;
    const broken: ScriptReply = {
      ...failure("overloaded", "retryable"),
      content: [text("Half an ans"), toolCall("count")],
    };
    const { session, script, events } = await startSession(
      [reply(toolCall("count")), broken, { ...reply("An answer."), fault: "end_without_done" }, reply("An answer.")],
      { tools: [tool("count", () => void ran++)] },
    );
    expect(await session.prompt("go")).toEqual({ status: "done" });
    script.assertDone();
    expect(ran).toBe(1);
    expect(said(session.messages)).toEqual([
      "user: go",
      "assistant: <toolCall>",
      "toolResult: count ran",
      "assistant: An answer.",
    ]);
    expect(shown(script.calls[3]?.context)).toBe(shown(script.calls[1]?.context));
    expect(events.filter(({ type }) => type === "agent_settled")).toHaveLength(1);
  });

  it("R023 an error is no text of the assistant, and what a final failure had shown stays for the model", async () => {
    const partly: ScriptReply = { ...failure("connection lost", "unknown"), content: [text("I found ")] };
    const { session, script } = await startSession([partly, reply("on")]);
    expect(await session.prompt("go")).toMatchObject({ status: "error", errorMessage: "connection lost" });
    await session.prompt("and?");
    expect(script.calls[1]?.context.messages.map((message) => textOf(message as AgentMessage))).toEqual([
      "go",
      "I found ",
      "and?",
    ]);
  });

  it("R037 short waits of the server are obeyed as a lower bound, a wait of days is an error with the time", async () => {
    const asks = (ms: number): ScriptReply => ({ ...busy, errorDetails: { retryAfterMs: ms } });
    const { session, waits, script } = await startSession([asks(5000), asks(1_382_400_000)], {
      now: () => Date.UTC(2024, 0, 1),
    });
    const outcome = await session.prompt("go");
    expect(waits).toEqual([5000]);
    expect(script.calls).toHaveLength(2);
    expect(outcome).toMatchObject({
      status: "error",
      errorMessage: expect.stringContaining("2024-01-17T00:00:00.000Z"),
    });
  });

  it("R038 quota and billing errors make one request and a clear message", async () => {
    const { session, script, waits } = await startSession([failure("You have no credit left", "quota")]);
    expect(await session.prompt("go")).toMatchObject({ errorMessage: "You have no credit left", errorKind: "quota" });
    expect([script.calls.length, waits.length]).toEqual([1, 0]);
  });

  it("E3 R195 a quota stop goes over to the fallback model with the context kept, and the switch is recorded", async () => {
    const { session, script, store, events } = await startSession(
      [reply(toolCall("calc")), failure("no credit", "quota"), reply("done")],
      { tools: [tool("calc")], settings: { fallbackModels: [other] } },
    );
    expect(await session.prompt("go")).toEqual({ status: "done" });
    expect(script.calls.map(({ model }) => model.id)).toEqual(["demo", "demo", "other"]);
    expect(shown(script.calls[2]?.context)).toBe(shown(script.calls[1]?.context));
    expect(events).toContainEqual({
      type: "model_fallback",
      from: "scripted/demo",
      to: "scripted/other",
      reason: "no credit",
    });
    expect(fileEntries(store)).toContainEqual(expect.objectContaining({ type: "model_change", modelId: "other" }));
    expect(session.model.id).toBe("other");
  });

  it("E3 fallback models are tried in order, each with its own retries; after the last the error stays", async () => {
    const third = scriptedModel({ id: "third" });
    const retry = { enabled: true, maxRetries: 1, baseDelayMs: 1, maxDelayMs: 1 };
    const { session, script } = await startSession([busy, busy, busy, busy, failure("bad key", "auth"), reply("ok")], {
      settings: { fallbackModels: [other, third], retry },
    });
    expect(await session.prompt("go")).toMatchObject({ status: "error", errorMessage: "bad key" });
    expect(script.calls.map(({ model }) => model.id)).toEqual(["demo", "demo", "other", "other", "third"]);
    expect(await session.prompt("again")).toEqual({ status: "done" });
  });

  it("E4 an overflow drops the attempt, compacts, and is tried once more", async () => {
    const compactor = fakeCompactor();
    const { session, script, events, store } = await startSession(
      [reply("one"), failure("prompt is too long", "overflow"), reply("two")],
      { compactor },
    );
    await session.prompt("first");
    expect(await session.prompt("second")).toEqual({ status: "done" });
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

  it("E4 R114 a second overflow, or a compaction that fails, is the end: both errors show and the session is usable", async () => {
    const compactor = fakeCompactor();
    const full = failure("too long", "overflow");
    const twice = await startSession([full, full, reply("ok")], { compactor });
    expect(await twice.session.prompt("go")).toMatchObject({ status: "error", errorMessage: "too long" });
    expect(compactor.asked).toEqual(["overflow"]);
    expect(await twice.session.prompt("again")).toEqual({ status: "done" });

    const failing = fakeCompactor(() => Promise.reject(new Error("no credit for the summary")));
    const once = await startSession([full, reply("ok")], { compactor: failing });
    const errorMessage = "too long (compaction failed: no credit for the summary)";
    expect(await once.session.prompt("go")).toMatchObject({ status: "error", errorMessage });
    expect(once.events).toContainEqual(
      expect.objectContaining({ type: "compaction_end", willRetry: false, errorMessage: "no credit for the summary" }),
    );
    expect(await once.session.prompt("again")).toEqual({ status: "done" });
  });

  it("R116 no output with a full window is an overflow, whatever the server calls it", async () => {
    const compactor = fakeCompactor();
    const { session, script } = await startSession(
      [{ ...reply(), stopReason: "length", usage: { input: 199_900 } }, reply("ok")],
      { compactor },
    );
    expect(await session.prompt("go")).toEqual({ status: "done" });
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
    expect(await session.prompt("go")).toEqual({ status: "done" });
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
    expect(await partly.session.prompt("go")).toEqual({ status: "done" });
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

  it("R036 a malformed call is asked for again twice with a hint that is no word of the user's", async () => {
    const malformed: ScriptReply = {
      ...failure("malformed function call", "retryable"),
      content: [toolCall("calc")],
      errorDetails: { code: "MALFORMED_FUNCTION_CALL" },
    };
    let ran = 0;
    const { session, script, waits, store } = await startSession([malformed, malformed, malformed], {
      tools: [tool("calc", () => void ran++)],
    });
    expect(await session.prompt("go")).toMatchObject({ status: "error", errorMessage: "malformed function call" });
    expect([script.calls.length, ran, waits.length]).toEqual([3, 0, 0]);
    expect(JSON.stringify(script.calls[1]?.context.messages.at(-1))).toContain("malformed");
    const users = fileEntries(store).filter(({ message }) => (message as AgentMessage | undefined)?.role === "user");
    expect(users).toHaveLength(1);
  });

  it("R056 an image that the provider refuses becomes a note, and the session goes on, also after a resume", async () => {
    const refused = failure("messages.0.content.1: Could not process image", "invalid_request");
    const first = await startSession([refused, reply("a picture of nothing")]);
    const images = [{ type: "image" as const, data: "AAAA", mimeType: "image/png" }];
    expect(await first.session.prompt("look", { images })).toEqual({ status: "done" });
    const sent = JSON.stringify(first.script.calls[1]?.context);
    expect([sent.includes("AAAA"), sent.includes("taken out")]).toEqual([false, true]);
    const second = await reopen(first, [reply("ok")]);
    await second.session.prompt("and now?");
    expect(JSON.stringify(second.script.calls[0]?.context)).not.toContain("AAAA");
  });

  it("R056 only the images that came since the last good reply are taken out", async () => {
    const image = (data: string) => ({ type: "image" as const, data, mimeType: "image/png" });
    const { session, script } = await startSession([
      reply("fine"),
      failure("invalid base64 image", "invalid_request"),
      reply("ok"),
    ]);
    await session.prompt("good", { images: [image("GOOD")] });
    await session.prompt("bad", { images: [image("BADD")] });
    const sent = JSON.stringify(script.calls[2]?.context);
    expect([sent.includes("GOOD"), sent.includes("BADD")]).toEqual([true, false]);
  });

  it("R028 a switch to a model whose window is too small for the session warns", async () => {
    const { session, events } = await startSession([{ ...reply("long"), usage: { input: 50_000, output: 10 } }]);
    await session.prompt("go");
    session.setModel(scriptedModel({ id: "small", contextWindow: 8000 }));
    expect(events.at(-1)).toMatchObject({ type: "warning", message: expect.stringContaining("8000") });
  });

  it("R042 a server that reads far less than was sent is named once", async () => {
    const usage = { input: 4096, output: 10 };
    const { session, events } = await startSession([
      { ...reply("?"), usage },
      { ...reply("?"), usage },
    ]);
    await session.prompt("words ".repeat(20_000));
    await session.prompt("words ".repeat(20_000));
    const warnings = events.filter(({ type }) => type === "warning");
    expect(warnings).toEqual([{ type: "warning", message: expect.stringContaining("4096 tokens") }]);
  });

  it("R033 without usage from the provider an estimate drives the meter", async () => {
    const { session } = await startSession([reply("ok")]);
    await session.prompt("words ".repeat(2000));
    const { contextUsage } = session.stats();
    expect(contextUsage.source).toBe("estimate");
    expect(contextUsage.tokens).toBeGreaterThan(2500);
  });

  it("F10 calls that were open when the process died are closed: never started, or may have run in part", async () => {
    const store = newStore();
    const model = scriptedModel();
    const calls = ["started", "waiting"].map((id) => ({ type: "toolCall" as const, id, name: "calc", arguments: {} }));
    store.append({ type: "message", message: { role: "user", content: "go", timestamp: 1 } });
    const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
    const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost };
    const from = { api: model.api, provider: model.provider, model: model.id, usage };
    store.append({
      type: "message",
      message: { role: "assistant", content: calls, ...from, stopReason: "toolUse", timestamp: 2 },
    });
    const data = { toolCallId: "started", toolName: "calc" };
    store.append({ type: "custom", customType: "tau.call_started", data });
    const { session, script } = await startSession([reply("I see")], { store, tools: [tool("calc")] });
    await session.prompt("what happened?");
    const results = script.calls[0]?.context.messages.filter(({ role }) => role === "toolResult") ?? [];
    expect(results.map((message) => textOf(message as AgentMessage))).toEqual([
      expect.stringContaining("in part"),
      expect.stringContaining("never started"),
    ]);
    expect(fileEntries(store).filter(({ message }) => (message as AgentMessage)?.role === "toolResult")).toHaveLength(
      2,
    );
  });
});

async function keepLastCall({ store, tokens }: CompactionRequest) {
  const { messages, entryIds } = store.projection();
  const at = messages.findLastIndex(({ role }) => role === "assistant");
  return { summary: "cut here", firstKeptEntryId: entryIds[at] ?? "", tokensBefore: tokens };
}
