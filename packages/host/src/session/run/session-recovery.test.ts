import type { AgentMessage } from "@tau/agent";
import type { Context } from "@tau/llm";
import { failure, reply, type ScriptReply, scriptedModel, text, toolCall } from "@tau/llm/testing";
import { describe, expect, it } from "vitest";
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
} from "../__fixtures__/harness.ts";

cleanUpAfterEach();

const busy = failure("overloaded", "retryable");
const shown = (context: Context | undefined) => JSON.stringify(context?.messages);
const roles = (context: Context | undefined) => context?.messages.map(({ role }) => role);

describe("recovery", () => {
  it("E2 a transient failure is tried again with growing waits, and the retry sends what the attempt sent (R3, F8)", async () => {
    const { session, script, store, events, waits } = await startSession([busy, busy, reply("there")]);
    expect(await session.prompt("go")).toMatchObject({ status: "done" });
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
    expect(outcome).toMatchObject({
      status: "error",
      failure: { code: "retries_used_up", params: { text: "overloaded", retries: 3 } },
      errorMessage: "overloaded (after 3 retries)",
      errorKind: "retryable",
    });
    expect(events.filter(({ type }) => type === "auto_retry_end")).toEqual([
      { type: "auto_retry_end", success: false, attempt: 3, finalError: "overloaded (after 3 retries)" },
    ]);
    expect(await session.prompt("again")).toMatchObject({ status: "done" });
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
    expect(await run).toMatchObject({ status: "aborted" });
    expect(script.calls).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ type: "agent_settled", aborted: true });
    expect(events.filter(({ type }) => type === "auto_retry_end")).toHaveLength(1);
    expect(await session.prompt("on")).toMatchObject({ status: "done" });
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
    expect(await session.dispatch({ type: "abort_retry" })).toEqual({ aborted: true });
    expect(await run).toMatchObject({ status: "error", errorMessage: "overloaded" });
    expect(script.calls).toHaveLength(1);
    expect(await session.dispatch({ type: "clear_queue" })).toEqual({ steering: ["and this"], followUp: [] });
  });

  it("E2 a retry can be given up from the moment that it is announced", async () => {
    const { session, script, waits } = await startSession([busy, reply("too late")]);
    session.subscribe(async (event) => {
      if (event.type === "auto_retry_start")
        expect(await session.dispatch({ type: "abort_retry" })).toEqual({ aborted: true });
    });
    expect(await session.prompt("go")).toMatchObject({ status: "error", errorMessage: "overloaded" });
    expect(script.calls).toHaveLength(1);
    expect(waits).toHaveLength(1);
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
    expect(await session.prompt("go")).toMatchObject({ status: "done" });
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

  it("R023 an error is not the assistant's text, and what a final failure had shown stays for the model", async () => {
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

  it("E3 a quota stop goes over to the fallback model with the context kept, and the switch is recorded", async () => {
    const { session, script, store, events } = await startSession(
      [reply(toolCall("calc")), failure("no credit", "quota"), reply("done")],
      { tools: [tool("calc")], settings: { fallbackModels: [other] } },
    );
    expect(await session.prompt("go")).toMatchObject({ status: "done" });
    expect(script.calls.map(({ model }) => model.id)).toEqual(["demo", "demo", "other"]);
    expect(shown(script.calls[2]?.context)).toBe(shown(script.calls[1]?.context));
    expect(events).toContainEqual({
      type: "model_fallback",
      from: "scripted/demo",
      to: "scripted/other",
      reason: "no credit",
    });
    expect(fileEntries(store)).toContainEqual(expect.objectContaining({ type: "model_change", modelId: "other" }));
    expect(session.state.model.id).toBe("other");
  });

  it("R195 the switch after a quota stop holds over a resume, and a later switch back keeps the context", async () => {
    const first = await startSession([failure("no credit", "quota"), reply("here")], {
      settings: { fallbackModels: [other] },
    });
    await first.session.prompt("go");
    const recorded = first.store.projection().model;
    expect(recorded).toEqual({ provider: "scripted", modelId: "other" });
    const second = await reopen(first, [reply("back")]);
    await second.session.prompt("again");
    expect(roles(second.script.calls[0]?.context)).toEqual(["user", "assistant", "user"]);
    expect(second.store.projection().model).toEqual({ provider: "scripted", modelId: "demo" });
  });

  it("E5 a tool's error goes to the model, a key that cannot be had is the error of the run", async () => {
    const broken = tool("broken", () => Promise.reject(new Error("no such file")));
    const { session, script } = await startSession([reply(toolCall("broken")), reply("I see")], { tools: [broken] });
    expect(await session.prompt("go")).toMatchObject({ status: "done" });
    expect(JSON.stringify(script.calls[1]?.context)).toContain("no such file");
    const getApiKey = () => Promise.reject(new Error("no key for scripted: set SCRIPTED_KEY"));
    const keyless = await startSession([], { getApiKey });
    const errorMessage = "no key for scripted: set SCRIPTED_KEY";
    expect(await keyless.session.prompt("go")).toMatchObject({ status: "error", errorMessage });
    expect(keyless.script.calls).toHaveLength(0);
  });

  it("E3 fallback models are tried in order, each with its own retries; after the last the error stays", async () => {
    const third = scriptedModel({ id: "third" });
    const retry = { enabled: true, maxRetries: 1, baseDelayMs: 1, maxDelayMs: 1 };
    const { session, script } = await startSession([busy, busy, busy, busy, failure("bad key", "auth"), reply("ok")], {
      settings: { fallbackModels: [other, third], retry },
    });
    expect(await session.prompt("go")).toMatchObject({ status: "error", errorMessage: "bad key" });
    expect(script.calls.map(({ model }) => model.id)).toEqual(["demo", "demo", "other", "other", "third"]);
    expect(await session.prompt("again")).toMatchObject({ status: "done" });
  });

  it("R036 a malformed call is asked for again twice with a hint that is not the user's", async () => {
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

  it("R056 an image that the provider refuses becomes a note, and the session continues, also after a resume", async () => {
    const refused = failure("messages.0.content.1: Could not process image", "invalid_request");
    const first = await startSession([refused, reply("a picture of nothing")]);
    const images = [{ type: "image" as const, data: "AAAA", mimeType: "image/png" }];
    expect(await first.session.prompt("look", { images })).toMatchObject({ status: "done" });
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
    session.configure({ model: scriptedModel({ id: "small", contextWindow: 8000 }) });
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
    const { contextUsage } = await session.dispatch({ type: "get_session_stats" });
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
