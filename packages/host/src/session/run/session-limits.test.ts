import { failure, reply, toolCall } from "@tau/llm/testing";
import { describe, expect, it } from "vitest";
import {
  cleanUpAfterEach,
  fileEntries,
  gate,
  other,
  reopen,
  said,
  startSession,
  tool,
} from "../__fixtures__/harness.ts";

cleanUpAfterEach();

const loops = () => ({ ...reply(toolCall("calc")), usage: { input: 100, output: 10, cost: { total: 0.004 } } });

describe("limits and ends", () => {
  it("R191 a limit of turns holds over retries, ends cleanly, and the session can be continued", async () => {
    let request = 0;
    const script = () => (++request === 2 ? failure("busy", "retryable") : loops());
    const first = await startSession(script, {
      tools: [tool("calc", () => `${request}`)],
      settings: { budget: { maxTurns: 3 } },
    });
    const outcome = await first.session.prompt("go");
    expect(outcome).toMatchObject({ status: "limit", limit: "maxTurns" });
    expect(first.script.calls).toHaveLength(3);
    expect(first.events.at(-1)).toMatchObject({ type: "agent_settled", aborted: false, outcome: { status: "limit" } });
    expect(await first.session.prompt("more")).toMatchObject({ status: "limit" });
    expect(first.script.calls).toHaveLength(3);
    const second = await reopen(first, [reply("done")], { settings: { budget: { maxTurns: 3 } } });
    expect(await second.session.prompt("on")).toMatchObject({ status: "done" });
    const users = said(second.session.messages).filter((line) => line.startsWith("user"));
    expect(users).toEqual(["user: go", "user: more", "user: on"]);
  });

  it("R191 limits of cost and tokens hold over the prompts of a session", async () => {
    const cost = await startSession(loops, { tools: [tool("calc")], settings: { budget: { maxCost: 0.01 } } });
    expect(await cost.session.prompt("go")).toMatchObject({ status: "limit", limit: "maxCost" });
    expect(cost.script.calls).toHaveLength(3);
    const tokens = await startSession(
      [
        { ...reply("a"), usage: { input: 90, output: 10 } },
        { ...reply("b"), usage: { input: 90, output: 10 } },
      ],
      { settings: { budget: { maxTokens: 200 } } },
    );
    expect(await tokens.session.prompt("one")).toMatchObject({ status: "done" });
    expect(await tokens.session.prompt("two")).toMatchObject({ status: "done" });
    expect(await tokens.session.prompt("three")).toMatchObject({ status: "limit", limit: "maxTokens" });
    expect((await tokens.session.dispatch({ type: "get_session_stats" })).spent).toMatchObject({
      turns: 2,
      tokens: 200,
    });
  });

  it("R191 a run that finishes with its last turn is done, not limited", async () => {
    const { session } = await startSession([loops(), reply("end")], {
      tools: [tool("calc")],
      settings: { budget: { maxTurns: 2 } },
    });
    expect(await session.prompt("go")).toMatchObject({ status: "done" });
  });

  it("R191 a limit of time stops a run that hangs", async () => {
    const { open, opened } = gate();
    const sleep = () => opened;
    const { session, events } = await startSession([{ ...reply(), fault: "hang" }], {
      settings: { budget: { timeoutMs: 5000 } },
      sleep,
    });
    const run = session.prompt("go");
    open();
    expect(await run).toMatchObject({ status: "limit", limit: "timeout", message: expect.stringContaining("5 s") });
    expect(events.at(-1)).toMatchObject({ type: "agent_settled", aborted: false });
  });

  it("R191 names a small price in digits", async () => {
    const { session } = await startSession([loops(), loops()], {
      tools: [tool("calc")],
      settings: { budget: { maxCost: 1e-8 } },
    });
    expect(await session.prompt("go")).toMatchObject({ message: expect.stringContaining("of $0.00000001 is reached") });
  });

  it("R191 a limit of time counts what was over before the first run", async () => {
    const waits: number[] = [];
    const sleep = async (ms: number) => void waits.push(ms);
    const { session } = await startSession([{ ...reply(), fault: "hang" }], {
      settings: { budget: { timeoutMs: 5000, spentMs: () => 3500 } },
      sleep,
    });
    const outcome = await session.prompt("go");
    expect([waits[0], outcome]).toEqual([1500, expect.objectContaining({ message: expect.stringContaining("5 s") })]);
  });

  it("R218 a limit of cost with a model without prices is warned of, once for each model", async () => {
    const cost = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 };
    const free = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    const start = (price: typeof cost, maxCost?: number) =>
      startSession(() => reply("ok"), {
        model: { ...other, cost: price },
        settings: { budget: maxCost === undefined ? {} : { maxCost } },
      });
    const { session, events } = await start(free, 0.5);
    await session.prompt("go");
    await session.prompt("again");
    await session.dispatch({ type: "prompt", message: "x" });
    const warnings = events.filter(({ type }) => type === "warning");
    expect(warnings).toEqual([
      { type: "warning", message: expect.stringMatching(/limit of \$0\.5 cannot hold.*scripted\/other.*models\.json/) },
    ]);
    const first = events.findIndex(({ type }) => type === "warning");
    expect(first).toBeLessThan(events.findIndex(({ type }) => type === "message_start"));
    for (const { session: other, events: quiet } of [await start(cost, 0.5), await start(free)]) {
      await other.prompt("go");
      expect(quiet.filter(({ type }) => type === "warning")).toEqual([]);
    }
  });

  it("T8 the same call again and again ends as a limit", async () => {
    const { session, script } = await startSession(loops, {
      tools: [tool("calc")],
      settings: { limits: { maxIdenticalCalls: 6 } },
    });
    expect(await session.prompt("go")).toMatchObject({ status: "limit", limit: "maxIdenticalCalls" });
    expect(script.calls).toHaveLength(6);
  });

  it("R184 R002 an abort settles once although a tool, a listener and the provider ignore it", async () => {
    const { open, opened } = gate();
    const { session, types, script } = await startSession([reply(toolCall("deaf"))], {
      tools: [tool("deaf", () => new Promise(() => undefined))],
      settings: { limits: { abortGraceMs: 20 } },
    });
    session.subscribe((event) => {
      if (event.type !== "tool_execution_start") return undefined;
      open();
      return new Promise(() => undefined);
    });
    const run = session.prompt("go");
    await opened;
    await session.abort();
    expect(await run).toMatchObject({ status: "aborted" });
    expect(types().filter((type) => type === "agent_settled")).toHaveLength(1);
    expect(script.calls).toHaveLength(1);
  });

  it("R011 the run stops when the front end dies, and continues when a mere listener fails", async () => {
    const { session, events } = await startSession([reply(toolCall("calc")), reply("end")], { tools: [tool("calc")] });
    session.subscribe(() => {
      throw new Error("only a listener");
    });
    expect(await session.prompt("go")).toMatchObject({ status: "done" });
    expect(events).toContainEqual({ type: "listener_error", event: "agent_start", error: "only a listener" });

    const dying = await startSession(loops, { tools: [tool("calc", () => `${Math.random()}`)] });
    dying.session.subscribe(
      (event) => {
        if (event.type === "tool_execution_end") throw new Error("renderer");
      },
      { essential: true },
    );
    expect(await dying.session.prompt("go")).toMatchObject({ status: "aborted", reason: "The front end failed." });
    expect(dying.script.calls).toHaveLength(1);
  });

  it("dispose stops the run, settles it, ends the tools and closes the store, once", async () => {
    const { open, opened } = gate();
    let told = 0;
    let stopped = false;
    const run = (signal: AbortSignal) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => resolve(undefined));
        open();
      }).then(() => {
        stopped = true;
      });
    const { session, types } = await startSession([reply(toolCall("hang"))], {
      tools: [tool("hang", run)],
      onDispose: () => void told++,
    });
    const prompt = session.prompt("go");
    await opened;
    await Promise.all([session.dispose(), session.dispose()]);
    expect([told, stopped]).toEqual([1, true]);
    expect(await prompt).toMatchObject({ status: "aborted" });
    expect(types().at(-1)).toBe("agent_settled");
    await expect(session.prompt("more")).rejects.toMatchObject({ code: "disposed" });
    expect(() => session.steer("more")).toThrow();
  });

  it("R143 own keys are masked in what tools give back, on the screen and on disk", async () => {
    const key = "sk-own-key-123456";
    const leak = tool("env", () => `KEY=${key}`);
    const failing = tool("fail", () => {
      throw new Error(`denied for ${key}`);
    });
    const { session, store, events, script } = await startSession(
      [reply(toolCall("env"), toolCall("fail")), reply("ok")],
      {
        tools: [leak, failing],
        secrets: [key],
      },
    );
    await session.prompt("go");
    const seen = [fileEntries(store), events, script.calls.map(({ context }) => context)];
    for (const place of seen) expect(JSON.stringify(place)).not.toContain(key);
    expect(JSON.stringify(script.calls[1]?.context)).toContain("KEY=[secret]");
  });

  it("R143 own keys are masked in what users and models say, on disk and in requests, but not in calls and signed thinking", async () => {
    const key = "sk-own-key-123456";
    const used: unknown[] = [];
    const use = {
      ...tool("use"),
      execute: async (_id: string, args: unknown) => {
        used.push(args);
        return { content: [], details: undefined };
      },
    };
    const signed = { type: "thinking" as const, thinking: `signed ${key}`, thinkingSignature: "s" };
    const { session, store, events, script } = await startSession(
      [
        reply(`I saw ${key}.`, toolCall("use", { token: key })),
        { ...reply("ok"), content: [signed, "ok"] },
        reply("on"),
      ],
      { tools: [use], secrets: [key] },
    );
    await session.prompt(`Here is my file: KEY=${key}`);
    await session.prompt("continue");
    expect(used).toEqual([{ token: key }]);
    const texts = JSON.stringify(fileEntries(store));
    expect(texts).toContain("Here is my file: KEY=[secret]");
    expect(texts).toContain("I saw [secret].");
    expect(texts).toContain(`signed ${key}`);
    const shown = events.flatMap((event) => (event.type === "message_end" ? [event.message] : []));
    expect(JSON.stringify(shown)).toContain("I saw [secret].");
    // What is sent later begins with what was sent before (O3).
    const [, second, third] = script.calls.map(({ context }) => context.messages);
    expect(JSON.stringify(second)).toContain("I saw [secret].");
    expect(third?.slice(0, second?.length)).toEqual(second);
  });

  it("statistics: tokens, cost, cache hits and context of session and turn, hidden attempts and resumes included", async () => {
    const usage = (input: number, cacheRead: number) => ({ input, cacheRead, output: 10, cost: { total: 0.01 } });
    const first = await startSession(
      [
        { ...reply(toolCall("calc")), usage: usage(100, 0) },
        { ...failure("busy", "retryable"), usage: usage(0, 0) },
        { ...reply("one"), usage: usage(20, 100) },
        { ...reply("two"), usage: usage(30, 170) },
      ],
      { tools: [tool("calc")] },
    );
    await first.session.prompt("a");
    await first.session.prompt("b");
    const stats = await first.session.dispatch({ type: "get_session_stats" });
    expect(stats).toMatchObject({
      userMessages: 2,
      assistantMessages: 4,
      toolCalls: 1,
      toolResults: 1,
      tokens: { input: 150, output: 40, cacheRead: 270, total: 460 },
      turn: { userMessages: 1, assistantMessages: 1, tokens: { input: 30, cacheRead: 170 }, cacheHitShare: 0.85 },
      contextUsage: { tokens: 210, source: "provider", percent: 0.1 },
    });
    expect(stats.cost).toBeCloseTo(0.04);
    const second = await reopen(first, []);
    const { spent: _spent, ...kept } = stats;
    expect(await second.session.dispatch({ type: "get_session_stats" })).toMatchObject(kept);
  });
});
