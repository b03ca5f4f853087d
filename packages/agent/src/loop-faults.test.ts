import type { Context } from "@tau/llm";
import { createScript, reply } from "@tau/llm/testing";
import { describe, expect, it } from "vitest";
import {
  after,
  assistant,
  call,
  eventFaults,
  gate,
  model,
  outline,
  pairingFaults,
  rawStream,
  results,
  rig,
  tool,
  user,
} from "./__fixtures__/kit.ts";
import { defaultConvertToLlm } from "./convert.ts";
import type { AgentEvent } from "./events.ts";
import { runAgentLoop } from "./loop.ts";
import type { AgentTool } from "./tool.ts";

const never = () => new Promise<never>(() => undefined);
const settle = () => new Promise((resolve) => setImmediate(resolve));
const GRACE_MS = 5;
type Gate = ReturnType<typeof gate<void>>;

/** Whether `run` settles by the end of the grace of an abort that was just made. A run that hangs must not hang the test. */
async function settlesInGrace(run: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const done = () => {
    settled = true;
  };
  run.then(done, done);
  // Timers of one duration fire in the order of their start.
  await new Promise((resolve) => setTimeout(resolve, GRACE_MS));
  for (let turn = 0; turn < 50 && !settled; turn++) await settle();
  return settled;
}

const starts = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === "tool_execution_start" ? [event.toolCallId] : []));

describe("what an abort waits for", () => {
  const wait = (asked: Gate) => () => after(asked.open(), never());
  type Case = [string, (asked: Gate) => Parameters<typeof rig>[1], Parameters<typeof rig>[0]];
  const cases: Case[] = [
    ["tool", (asked) => ({ tools: [tool("a", wait(asked))] }), [reply(call("a"))]],
    ["beforeToolCall", (asked) => ({ tools: [tool("a")], beforeToolCall: wait(asked) }), [reply(call("a"))]],
    ["afterToolCall", (asked) => ({ tools: [tool("a")], afterToolCall: wait(asked) }), [reply(call("a"))]],
    ["beforeMessageEnd", (asked) => ({ beforeMessageEnd: wait(asked) }), []],
    ["transformContext", (asked) => ({ transformContext: wait(asked) }), []],
    ["convertToLlm", (asked) => ({ convertToLlm: wait(asked) }), []],
    ["getApiKey", (asked) => ({ getApiKey: wait(asked) }), []],
    ["getSteeringMessages", (asked) => ({ getSteeringMessages: wait(asked) }), []],
    ["getFollowUpMessages", (asked) => ({ getFollowUpMessages: wait(asked) }), [reply("a")]],
    ["shouldStopAfterTurn", (asked) => ({ shouldStopAfterTurn: wait(asked) }), [reply("a")]],
    ["prepareNextTurn", (asked) => ({ tools: [tool("a")], prepareNextTurn: wait(asked) }), [reply(call("a"))]],
    ["streamFn", (asked) => ({ streamFn: wait(asked) }), []],
    [
      "stream",
      (asked) => ({
        streamFn: rawStream(async function* () {
          yield { type: "start", partial: assistant([]) };
          await wait(asked)();
        }),
      }),
      [],
    ],
  ];

  it.each(cases)(
    "R331 R337 R8 the abort comes while %s is asked, and the run settles",
    async (_name, options, steps) => {
      const asked = gate();
      const { agent, events, script } = rig(steps, { ...options(asked), limits: { abortGraceMs: GRACE_MS } });
      const run = agent.prompt("hi");
      await asked.promise;
      const requests = script.calls.length;
      agent.abort();
      expect(await settlesInGrace(run)).toBe(true);
      expect(script.calls).toHaveLength(requests);
      expect(eventFaults(events)).toEqual([]);
      expect(agent.state.isStreaming).toBe(false);
    },
  );

  it("R331 R8 without a limit the grace is one second, for the whole of the run", async () => {
    const asked = gate();
    const controller = new AbortController();
    const delays: (number | undefined)[] = [];
    const real = globalThis.setTimeout;
    const config = { model, convertToLlm: defaultConvertToLlm };
    const context = { messages: [], tools: [tool("a", wait(asked))] };
    const { streamFn } = createScript([reply(call("a"))]);
    const run = runAgentLoop([user("hi")], context, config, () => undefined, controller.signal, streamFn);
    await asked.promise;
    const spy = (callback: () => void, ms?: number) => after(delays.push(ms), real(callback, 0));
    try {
      Object.assign(globalThis, { setTimeout: spy });
      controller.abort();
    } finally {
      Object.assign(globalThis, { setTimeout: real });
    }
    await run;
    expect(delays).toEqual([1000]);
  });

  const late = ["transformContext", "convertToLlm", "getApiKey"] as const;
  it.each(late)("R331 R9 the model is not asked when %s comes back after the abort", async (hook) => {
    const asked = gate();
    const slow = gate();
    const wait = async (messages: never) => {
      asked.open();
      await slow.promise;
      return hook === "getApiKey" ? "key" : messages;
    };
    const { agent, script } = rig([reply("never")], { [hook]: wait, limits: { abortGraceMs: GRACE_MS } });
    const run = agent.prompt("hi");
    await asked.promise;
    agent.abort();
    expect(await settlesInGrace(run)).toBe(true);
    slow.open();
    for (let turn = 0; turn < 20; turn++) await settle();
    expect(script.calls).toHaveLength(0);
    expect(outline(agent.state.messages)).toEqual(["user:hi", "assistant:[aborted]"]);
  });

  it("R331 S4 the iterator of a provider is closed when its reply is read, cut off or aborted", async () => {
    const said = "I will look at the file once more, and then at the other. ";
    const endings: [string, (closed: () => void) => AsyncIterator<unknown>][] = [
      ["done", (closed) => events([{ type: "done", reason: "stop", message: assistant([]) }], closed)],
      ["error", (closed) => events([{ type: "error", reason: "error", error: assistant([]) }], closed)],
      ["repeated", (closed) => events([{ type: "text_delta", contentIndex: 0, delta: said.repeat(900) }], closed)],
      ["abort", (closed) => ({ next: never, return: async () => after(closed(), { done: true, value: undefined }) })],
    ];
    for (const [name, make] of endings) {
      let closed = 0;
      const asked = gate();
      const { agent } = rig([], {
        limits: { abortGraceMs: GRACE_MS, maxEmptyRetries: 0 },
        streamFn: () => {
          asked.open();
          const iterator = make(() => void closed++);
          return { [Symbol.asyncIterator]: () => iterator, result: never } as never;
        },
      });
      const run = agent.prompt("hi");
      await asked.promise;
      if (name === "abort") {
        for (let turn = 0; turn < 5; turn++) await settle();
        agent.abort();
      }
      expect(await settlesInGrace(run), name).toBe(true);
      expect(closed, name).toBe(1);
    }
  });
});

/** Plays events and then waits, as a server does that has not closed the connection. */
function events(list: unknown[], closed: () => void): AsyncIterator<unknown> {
  const left = list.slice();
  return {
    next: async () => (left.length > 0 ? { done: false, value: left.shift() } : never()),
    return: async () => after(closed(), { done: true as const, value: undefined }),
  };
}

describe("the order of a batch", () => {
  const calls = (count: number, name = "a") => Array.from({ length: count }, (_, at) => call(name, {}, `c${at}`));

  it("R331 C12 a question takes no place among the running calls, with more calls than places", async () => {
    for (const maxParallelCalls of [1, 2, 8]) {
      const open = gate();
      const last = gate();
      const { agent, events } = rig([reply(...calls(12)), reply("end")], {
        limits: { maxParallelCalls },
        tools: [tool("a", (_args, _signal, id) => after(id === "c11" && last.open(), id))],
        beforeToolCall: async ({ toolCall }) => after(toolCall.id !== "c11" && (await open.promise), undefined),
      });
      const run = agent.prompt("hi");
      for (let turn = 0; turn < 40; turn++) await settle();
      expect(starts(events), `${maxParallelCalls}`).toEqual(["c11"]);
      await last.promise;
      open.open();
      await run;
      expect(starts(events)).toEqual(["c11", ...calls(11).map(({ id }) => id)]);
      expect(results(agent.state.messages).map(({ toolCallId }) => toolCallId)).toEqual(calls(12).map(({ id }) => id));
      expect(eventFaults(events)).toEqual([]);
    }
  });

  it("C12 at most maxParallelCalls run at once, 8 by default, and each place is given on", async () => {
    for (const [limits, most] of [
      [{}, 8],
      [{ maxParallelCalls: 3 }, 3],
      [{ maxParallelCalls: 0 }, 1],
    ] as const) {
      let running = 0;
      let peak = 0;
      const slow = tool("a", async () => {
        peak = Math.max(peak, ++running);
        await settle();
        running--;
        return "a";
      });
      const { agent } = rig([reply(...calls(20)), reply("end")], { tools: [slow], limits });
      await agent.prompt("hi");
      expect(peak).toBe(most);
    }
  });

  it("C12 calls are announced in call order, however the ways to their decisions differ", async () => {
    const mixed = [call("a", {}, "c0"), call("none", {}, "c1"), call("a", {}, "c2"), call("strict", {}, "c3")];
    const order = mixed.map(({ id }) => id);
    const decided = new Promise<undefined>((resolve) => resolve(undefined));
    const ways: Parameters<typeof rig>[1][] = [
      {},
      { beforeToolCall: () => undefined },
      { beforeToolCall: async () => undefined },
      // Long, but only promises: no question that stays open.
      { beforeToolCall: ({ toolCall }) => (toolCall.id === "c0" ? decided.then().then().then().then() : undefined) },
      { beforeToolCall: ({ toolCall }) => (toolCall.id === "c0" ? Promise.resolve({ block: true }) : undefined) },
      { limits: { maxParallelCalls: 1 } },
      { toolExecution: "sequential" },
    ];
    const strict = { type: "object" as const, properties: {}, required: ["n"] };
    for (const [at, way] of ways.entries()) {
      const { agent, events } = rig([reply(...mixed), reply("end")], {
        tools: [tool("a"), tool("strict", () => "x", { parameters: strict })],
        ...way,
      });
      await agent.prompt("hi");
      expect(starts(events), `way ${at}`).toEqual(order);
      expect(eventFaults(events)).toEqual([]);
    }
  });
});

describe("what later runs and requests see of earlier ones", () => {
  it("R331 R337 C10 an id of an earlier run is taken, in the same agent and in a restored one", async () => {
    const twice = () => reply(call("a", {}, "x"), call("a", {}, "x"));
    const { agent, script } = rig([twice(), reply("one"), twice(), reply("two"), twice(), reply("three")], {
      tools: [tool("a")],
    });
    await agent.prompt("first");
    await agent.prompt("second");
    agent.restore(JSON.parse(JSON.stringify(agent.snapshot())));
    await agent.prompt("third");
    const ids = results(agent.state.messages).map(({ toolCallId }) => toolCallId);
    expect(new Set(ids).size).toBe(6);
    for (const { context } of script.calls) expect(pairingFaults(context.messages)).toEqual([]);
    expect(ids.slice(0, 2)).toEqual(["x", "x_2"]);
  });

  it("R331 O1 O3 a message that is not a plain one is converted once, for all requests and copies of the list", async () => {
    const note = { role: "custom", customType: "note", content: "n", display: true, timestamp: 1 } as const;
    const summary = { role: "compactionSummary", summary: "s", tokensBefore: 1, timestamp: 1 } as const;
    const messages = [note, summary, user("hi")];
    const [first, second] = [defaultConvertToLlm(messages), defaultConvertToLlm([...messages, user("more")])];
    for (const at of [0, 1, 2]) expect(second[at]).toBe(first[at]);
    const requests: Context[] = [];
    const script = createScript([reply(call("a")), reply("end")]);
    const { agent } = rig([], {
      initialState: { model, messages },
      tools: [tool("a")],
      streamFn: (...args) => after(requests.push(args[1]), script.streamFn(...args)),
    });
    await agent.prompt("go");
    expect(requests).toHaveLength(2);
    for (const at of [0, 1]) expect(requests[1]?.messages[at]).toBe(requests[0]?.messages[at]);
  });

  it("R337 T6 a run that is to stop polls no queue, and one that may continue polls both", async () => {
    for (const stops of [true, false]) {
      const polled: string[] = [];
      const script = createScript([reply(call("a")), reply("end")]);
      await runAgentLoop(
        [user("hi")],
        { messages: [], tools: [tool("a")] },
        {
          model,
          convertToLlm: defaultConvertToLlm,
          getSteeringMessages: () => after(polled.push("steering"), []),
          getFollowUpMessages: () => after(polled.push("follow-up"), []),
          shouldStopAfterTurn: () => stops,
        },
        (event) => void (event.type === "turn_end" && polled.push("turn_end")),
        undefined,
        script.streamFn,
      );
      const turns = ["steering", "turn_end", "steering", "turn_end", "steering", "follow-up"];
      expect(polled).toEqual(stops ? ["steering", "turn_end"] : turns);
    }
  });
});

describe("what a slow listener meets", () => {
  it("R331 S6 of thousands of updates that a tool sends at once only the first few wait", async () => {
    const chatty: AgentTool = {
      ...tool("a"),
      execute: async (_id, _args, _signal, onUpdate) => {
        for (let at = 0; at < 5000; at++) onUpdate({ content: [{ type: "text", text: `${at}` }], details: {} });
        return { content: [{ type: "text" as const, text: "end" }], details: {} };
      },
    };
    const { agent, events } = rig([reply(call("a")), reply("end")], { tools: [chatty] });
    agent.subscribe(async (event) => void (event.type === "tool_execution_update" && (await settle())));
    await agent.prompt("hi");
    const shown = events.filter(({ type }) => type === "tool_execution_update");
    expect(shown.length).toBeGreaterThan(10);
    expect(shown.length).toBeLessThan(100);
    expect(shown[0]).toMatchObject({ partialResult: { content: [{ text: "0" }] } });
  });
});

describe("what a reply costs", () => {
  const lazyCalls = (count: number, id: string) => {
    let reads = 0;
    const make = (text: string) => {
      const block = { type: "toolCall", id, name: "a" };
      const get = () => after(reads++, { text });
      return Object.defineProperty(block, "arguments", { enumerable: true, configurable: true, get });
    };
    const streamFn = rawStream(async function* () {
      yield { type: "toolcall_start", contentIndex: 0, id, name: "a", partial: assistant([make("")]) };
      for (let at = 0; at < count; at++)
        yield { type: "toolcall_delta", contentIndex: 0, delta: "x", partial: assistant([make("x".repeat(at))]) };
      const whole = { type: "toolCall", id, name: "a", arguments: { text: "end" } };
      yield { type: "toolcall_end", contentIndex: 0, toolCall: whole, partial: assistant([whole]) };
      yield { type: "done", reason: "toolUse", message: assistant([whole]) };
    });
    return { streamFn, reads: () => reads };
  };

  it("S5 arguments that are computed for who looks are not looked at by the loop, under their own id or a new one", async () => {
    const earlier = assistant([{ type: "toolCall", id: "x", name: "a", arguments: {} }]);
    for (const id of ["fresh", "x", ""]) {
      const { streamFn, reads } = lazyCalls(300, id);
      const script = createScript([reply("end")]);
      let requests = 0;
      const { agent, events } = rig([], {
        initialState: { model, messages: [user("hi"), earlier] },
        tools: [tool("a")],
        streamFn: (...args) => (requests++ === 0 ? streamFn(...args) : script.streamFn(...args)),
      });
      await agent.prompt("go");
      expect(reads()).toBe(0);
      const updates = events.flatMap((event) => (event.type === "message_update" ? [event.message.content[0]] : []));
      expect(updates[100]).toMatchObject({ type: "toolCall", name: "a", arguments: { text: "x".repeat(99) } });
      expect(reads()).toBeGreaterThan(0);
      const ids = new Set(updates.flatMap((block) => (block?.type === "toolCall" ? [block.id] : [])));
      expect([...ids]).toHaveLength(1);
      expect(ids.has("x")).toBe(false);
    }
  });

  it("C15 the arguments of a call are copied once for its tool, and once more for each hook that may change them", async () => {
    const copies = async (options: Parameters<typeof rig>[1]) => {
      let seen: unknown;
      const keep = tool("a", (args) => {
        seen = args;
        return "a";
      });
      const { agent, events } = rig([reply(call("a", { deep: { marker: [1, 2, 3] } })), reply("end")], {
        ...options,
        tools: [keep],
      });
      const real = Object.entries;
      let count = 0;
      agent.subscribe((event) => {
        // Counts from the reply that is in the transcript to the result of the call.
        if (event.type === "message_end" && event.message.role === "assistant")
          Object.entries = ((value: object) => after("marker" in value && count++, real(value))) as never;
        if (event.type === "tool_execution_end") Object.entries = real;
      });
      await agent.prompt("hi").finally(() => Object.assign(Object, { entries: real }));
      expect(seen).toEqual({ deep: { marker: [1, 2, 3] } });
      expect(eventFaults(events)).toEqual([]);
      return count;
    };
    expect(await copies({})).toBe(1);
    expect(await copies({ beforeToolCall: () => undefined })).toBeLessThanOrEqual(5);
  });

  it("D3 all times of a run come from the clock that was given", async () => {
    let time = 1000;
    const now = () => time;
    const slow = tool("a", () => {
      time = 2000;
      return "a";
    });
    const { agent } = rig([reply(call("a")), reply("end")], {
      now,
      tools: [slow],
      limits: { maxTurns: 1 },
    });
    agent.steer("steered");
    await agent.prompt("hi");
    const times = agent.state.messages.map(({ role, timestamp }) => [role, timestamp]);
    expect(times.filter(([role]) => role !== "assistant")).toEqual([
      ["user", 1000],
      ["user", 1000],
      ["toolResult", 2000],
      ["custom", 2000],
    ]);
    const failing = rig([], { now, streamFn: () => Promise.reject(new Error("down")) });
    time = 3000;
    await failing.agent.prompt("hi");
    expect(failing.agent.state.messages.map(({ timestamp }) => timestamp)).toEqual([3000, 3000]);
  });
});
