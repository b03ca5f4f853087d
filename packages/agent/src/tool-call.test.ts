import { failure, reply } from "@tau/llm/testing";
import { describe, expect, it } from "vitest";
import {
  after,
  assistant,
  assistants,
  call,
  countWork,
  eventFaults,
  gate,
  model,
  outline,
  pairingFaults,
  rawStream,
  result,
  results,
  rig,
  textOf,
  tool,
  types,
  user,
} from "./__fixtures__/kit.ts";
import type { AgentEvent } from "./events.ts";

const texts = (agent: { state: { messages: Parameters<typeof results>[0] } }) =>
  results(agent.state.messages).map(textOf);
const order = (events: AgentEvent[], type: AgentEvent["type"]) =>
  events.flatMap((event) => (event.type === type && "toolCallId" in event ? [event.toolCallId] : []));

describe("tool calls", () => {
  it("C1 calls are recognised by their block, never by the stop reason", async () => {
    const { agent, script } = rig(
      [
        { ...reply(call("a")), stopReason: "stop" },
        { ...reply("no call"), stopReason: "toolUse" },
      ],
      { tools: [tool("a")] },
    );
    await agent.prompt("hi");
    expect(texts(agent)).toEqual(["a"]);
    script.assertDone();
  });

  it("R294 how long a call took is a whole number of milliseconds, whether it worked or failed", async () => {
    const fails = tool("b", () => {
      throw new Error("no");
    });
    const { agent, events } = rig([reply(call("a"), call("b")), reply("done")], { tools: [tool("a"), fails] });
    await agent.prompt("hi");
    const took = events.flatMap((event) => (event.type === "tool_execution_end" ? [event.durationMs] : []));
    expect(took.map(Number.isInteger)).toEqual([true, true]);
  });

  it("C2 R005 a reply that was cut off runs none of its calls and the model is asked again", async () => {
    let ran = 0;
    const write = tool("write", () => String(ran++));
    const cut = {
      ...reply(call("write", { path: "x", content: "AAAA" }), call("write")),
      stopReason: "length" as const,
    };
    const { agent, script } = rig([cut, reply("smaller then")], { tools: [write] });
    await agent.prompt("hi");
    expect(ran).toBe(0);
    expect(
      results(agent.state.messages).every(
        ({ isError, content }) => isError && /cut off/.test(textOf({ ...user(""), content })),
      ),
    ).toBe(true);
    expect(results(agent.state.messages)).toHaveLength(2);
    script.assertDone();
  });

  it("R005 arguments that only look whole run nothing when the reply was cut off", async () => {
    let ran = 0;
    const cut = {
      ...reply({ type: "toolCall" as const, name: "write", arguments: {}, rawArguments: '{"path":"a","content":"AAA' }),
      stopReason: "length" as const,
    };
    const { agent } = rig([cut, reply("ok")], { tools: [tool("write", () => String(ran++))] });
    await agent.prompt("hi");
    expect(ran).toBe(0);
    expect(texts(agent)[0]).toMatch(/cut off/);
  });

  it("C3 all calls of one message run side by side", async () => {
    const both = gate();
    let running = 0;
    const meet = tool("meet", async () => {
      if (++running === 2) both.open();
      await both.promise;
      return "met";
    });
    const { agent } = rig([reply(call("meet"), call("meet")), reply("end")], { tools: [meet] });
    await agent.prompt("hi");
    expect(texts(agent)).toEqual(["met", "met"]);
  });

  it("C4 one sequential tool, or the setting, makes the whole batch sequential", async () => {
    for (const option of ["tool", "setting"] as const) {
      let running = 0;
      let most = 0;
      const run = async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        return "x";
      };
      const tools = [tool("a", run), tool("b", run, option === "tool" ? { executionMode: "sequential" } : {})];
      const { agent } = rig([reply(call("a"), call("a"), call("b")), reply("end")], {
        tools,
        ...(option === "setting" && { toolExecution: "sequential" as const }),
      });
      await agent.prompt("hi");
      expect(most).toBe(1);
    }
  });

  it("C5 every call ends with exactly one result", async () => {
    const tools = [
      tool("ok"),
      tool("throws", () => {
        throw new Error("no");
      }),
      tool("strict", () => "x", {
        parameters: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
      }),
      tool("denied"),
    ];
    const calls = [call("ok"), call("throws"), call("strict"), call("denied"), call("unknown")];
    const { agent, events, script } = rig([reply(...calls), reply("end")], {
      tools,
      beforeToolCall: ({ toolCall }) => (toolCall.name === "denied" ? { block: true, reason: "not this" } : undefined),
    });
    agent.subscribe(() => {
      throw new Error("listener");
    });
    await agent.prompt("hi");
    expect(results(agent.state.messages).map(({ toolName, isError }) => [toolName, isError])).toEqual([
      ...[
        ["ok", false],
        ["throws", true],
        ["strict", true],
        ["denied", true],
        ["unknown", true],
      ],
    ]);
    expect(eventFaults(events)).toEqual([]);
    expect(pairingFaults(script.calls[1]?.context.messages ?? [])).toEqual([]);
  });

  it("C6 results are in call order, ends in completion order", async () => {
    const gates = [gate(), gate(), gate()];
    const wait = tool("wait", async ({ n }) => {
      await gates[Number(n)]?.promise;
      return `r${n}`;
    });
    const { agent, events } = rig([reply(...[0, 1, 2].map((n) => call("wait", { n }, `id${n}`))), reply("end")], {
      tools: [wait],
    });
    agent.subscribe((event) => {
      if (event.type === "tool_execution_start" && event.toolCallId === "id2") gates[2]?.open();
      if (event.type === "tool_execution_end") gates[event.toolCallId === "id2" ? 0 : 1]?.open();
    });
    await agent.prompt("hi");
    expect(order(events, "tool_execution_end")).toEqual(["id2", "id0", "id1"]);
    expect(results(agent.state.messages).map(({ toolCallId }) => toolCallId)).toEqual(["id0", "id1", "id2"]);
    expect(texts(agent)).toEqual(["r0", "r1", "r2"]);
  });

  it("C7 R015 an unknown tool gets the list of tools and the nearest name", async () => {
    const names = ["Bash", "read_file", "", "raed"];
    const tools = [tool("bash"), tool("read"), tool("edit")];
    const { agent, script } = rig([reply(...names.map((name) => call(name))), reply("end")], { tools });
    await agent.prompt("hi");
    for (const text of texts(agent)) expect(text).toMatch(/bash, read, edit/);
    expect(texts(agent)[0]).toContain('mean "bash"');
    expect(texts(agent)[1]).toContain('mean "read"');
    expect(texts(agent)[3]).toContain('mean "read"');
    expect(pairingFaults(script.calls[1]?.context.messages ?? [])).toEqual([]);
    script.assertDone();
  });

  it("R015 a name that is not text and arguments that are not an object are error results, and the loop continues", async () => {
    const odd = [
      { type: "toolCall", id: "1", name: null, arguments: {} },
      { type: "toolCall", id: "2", name: "bash", arguments: "foo" },
      { type: "toolCall", id: "3", name: "bash", arguments: 5 },
      { type: "toolCall", id: "4", name: "bash", arguments: [] },
      { type: "toolCall", id: "5", name: "bash", arguments: null },
      { type: "toolCall", id: "6", name: "bash", arguments: '{"x":"y"}' },
      { type: "toolCall", id: "7", name: "bash", arguments: "" },
      { type: "toolCall", id: "8", name: "bash" },
    ];
    let step = 0;
    const done = (message: unknown) =>
      rawStream(async function* () {
        yield { type: "done", reason: "toolUse", message };
      });
    const seen: unknown[] = [];
    const { agent } = rig([], {
      tools: [tool("bash", (args) => after(seen.push(args), "ran"))],
      streamFn: (...args) => done(step++ === 0 ? assistant(odd) : assistant([{ type: "text", text: "end" }]))(...args),
    });
    await agent.prompt("hi");
    expect(outline(agent.state.messages).at(-1)).toBe("assistant:end");
    expect(results(agent.state.messages).map(({ isError }) => isError)).toEqual([
      true,
      true,
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
    expect(seen).toEqual([{ x: "y" }, {}, {}]);
    const calls = assistants(agent.state.messages)[0]?.content ?? [];
    for (const block of calls) expect(block).toMatchObject({ name: expect.any(String), arguments: expect.any(Object) });
    expect(texts(agent)[1]).toMatch(/object.*string/s);
    expect(texts(agent)[1]).toContain("foo");
  });

  it("C7 a call whose argument text was broken gets the parse error and the raw text, capped", async () => {
    const raw = `{"path": ${"x".repeat(9000)}`;
    const { agent } = rig([reply({ type: "toolCall", name: "a", arguments: {}, rawArguments: raw }), reply("end")], {
      tools: [tool("a")],
    });
    await agent.prompt("hi");
    expect(texts(agent)[0]).toContain('{"path": xxx');
    expect(texts(agent)[0]?.length).toBeLessThan(4000);
    expect(results(agent.state.messages)[0]?.isError).toBe(true);
  });

  it("C8 a tool that throws or gives nothing usable is an error result and the loop continues", async () => {
    const junk: unknown[] = [undefined, null, 5, {}, { content: "text" }, { content: [null, { type: "text" }] }];
    const throws: unknown[] = [new Error("bad"), "text", undefined, { code: 5 }];
    const tools = [
      ...junk.map((value, index) => tool(`junk${index}`, () => value)),
      ...throws.map((value, index) => tool(`throws${index}`, () => Promise.reject(value))),
      {
        ...tool("sync"),
        execute: (() => {
          throw new Error("at once");
        }) as never,
      },
    ];
    const { agent, events } = rig([reply(...tools.map(({ name }) => call(name))), reply("end")], { tools });
    await agent.prompt("hi");
    expect(results(agent.state.messages).map(({ isError }) => isError)).toEqual(tools.map(() => true));
    for (const text of texts(agent)) expect(text.length).toBeGreaterThan(2);
    expect(texts(agent)).toEqual(expect.arrayContaining(["bad", "text", "at once"]));
    expect(eventFaults(events)).toEqual([]);
  });

  it("C9 open calls are closed with what is known: never started, or perhaps run in part", async () => {
    const started = gate();
    const stuck = tool("stuck", () => after(started.open(), new Promise(() => undefined)));
    const { agent } = rig([reply(call("stuck"), call("stuck"))], { tools: [stuck], toolExecution: "sequential" });
    const run = agent.prompt("hi");
    await started.promise;
    agent.abort();
    await run;
    expect(texts(agent)[0]).toMatch(/in part/);
    expect(texts(agent)[1]).toMatch(/never started/);

    const error = rig([{ ...failure("cut"), content: [call("stuck")] }], { tools: [stuck] });
    await error.agent.prompt("hi");
    expect(texts(error.agent)[0]).toMatch(/never started/);

    const calls = ["c1", "c2"].map((id) => ({ type: "toolCall", id, name: "stuck", arguments: {} }));
    const known = rig([reply("ok")], {
      startedCalls: new Set(["c1"]),
      initialState: { model, messages: [user("x"), assistant(calls)] },
    });
    await known.agent.prompt("continue");
    expect(texts(known.agent)[0]).toMatch(/in part/);
    expect(texts(known.agent)[1]).toMatch(/never started/);
    const unknown = rig([reply("ok")], { initialState: { model, messages: [user("x"), assistant(calls)] } });
    await unknown.agent.prompt("continue");
    expect(texts(unknown.agent)[0]).toMatch(/may have run in part/);
  });

  it("C10 duplicate and empty ids are unique before anything else sees them", async () => {
    const calls = [call("a", {}, "x"), call("a", {}, "x"), call("a", {}, ""), call("a", {}, "")];
    const ids = new Set<string>();
    const { agent, events, script } = rig([reply(...calls), reply(call("a", {}, "x")), reply("end")], {
      tools: [tool("a", (_args, _signal, id) => after(ids.add(id), id))],
    });
    await agent.prompt("hi");
    expect(ids.size).toBe(5);
    expect(ids.has("")).toBe(false);
    for (const { context } of script.calls) expect(pairingFaults(context.messages)).toEqual([]);
    const shown = new Set<string>();
    for (const event of events) {
      if (event.type !== "message_update") continue;
      const { assistantMessageEvent: update } = event;
      if (update.type === "toolcall_start") shown.add(update.id);
      if (update.type === "toolcall_end") expect(ids.has(update.toolCall.id)).toBe(true);
      for (const block of event.message.content) if (block.type === "toolCall") expect(ids.has(block.id)).toBe(true);
    }
    expect(shown).toEqual(ids);
  });

  it("C11 beforeToolCall sees validated arguments in call order, may block, change and terminate; it fails closed", async () => {
    const typed = { parameters: { type: "object", properties: { n: { type: "number" } }, required: ["n"] } };
    const seen: unknown[] = [];
    const ran: unknown[] = [];
    const { agent } = rig([reply(...["1", "2", "3", "4", "5", "x"].map((n) => call("a", { n }))), reply("end")], {
      tools: [tool("a", (args) => after(ran.push(args), "ran"), typed)],
      beforeToolCall: async ({ args, toolCall, assistantMessage, context }) => {
        seen.push(args.n);
        expect(toolCall.arguments).toEqual({ n: String(args.n) });
        expect(assistantMessage.content).toContainEqual(toolCall);
        expect(context.messages.length).toBe(2);
        if (args.n === 1) return { block: true, reason: "because" };
        if (args.n === 2) return { args: { n: "20" } };
        if (args.n === 3) return { args: { n: "many" } };
        if (args.n === 4) throw new Error("hook broke");
        args.n = "50";
        return undefined;
      },
    });
    await agent.prompt("hi");
    expect(seen).toEqual([1, 2, 3, 4, 5]);
    expect(ran).toEqual([{ n: 20 }, { n: 50 }]);
    expect(texts(agent)).toEqual([
      "because",
      "ran",
      expect.stringMatching(/expected number/),
      expect.stringMatching(/hook broke/),
      "ran",
      expect.stringMatching(/n: expected number/),
    ]);
    const ending = rig([reply(call("a", { n: 1 })), reply("never")], {
      tools: [tool("a")],
      beforeToolCall: () => ({ block: true, terminate: true }),
    });
    await ending.agent.prompt("hi");
    expect(ending.script.calls).toHaveLength(1);
  });

  it("C12 an open question holds up its own call only, in a sequential batch all of it", async () => {
    for (const toolExecution of ["parallel", "sequential"] as const) {
      const question = gate();
      const asked: string[] = [];
      const ran: string[] = [];
      const { agent } = rig([reply(call("a", {}, "a"), call("b", {}, "b"), call("c", {}, "c")), reply("end")], {
        toolExecution,
        tools: ["a", "b", "c"].map((name) => tool(name, () => after(ran.push(name), name))),
        beforeToolCall: async ({ toolCall }) => {
          asked.push(toolCall.id);
          if (toolCall.id === "a") await question.promise;
          return undefined;
        },
      });
      const ended = gate();
      agent.subscribe((event) => {
        if (event.type === "tool_execution_end" && event.toolCallId === "c") ended.open();
      });
      const run = agent.prompt("hi");
      if (toolExecution === "parallel") {
        await ended.promise;
        expect(ran).toEqual(["b", "c"]);
      } else {
        for (let tick = 0; tick < 20; tick++) await new Promise((resolve) => setImmediate(resolve));
        expect([asked, ran]).toEqual([["a"], []]);
      }
      question.open();
      await run;
      expect(asked).toEqual(["a", "b", "c"]);
      expect(texts(agent)).toEqual(["a", "b", "c"]);
    }
  });

  it.each<[string, unknown]>([
    ["no content", { content: undefined, isError: true }],
    ["a text for content", { content: "text" }],
    ["null for content", { content: null }],
    ["a list of junk", { content: [null, 3, {}] }],
  ])("C13 keeps the real output when afterToolCall gives %s", async (_title, answer) => {
    const afterToolCall = () => answer as object;
    const { agent } = rig([reply(call("a")), reply("end")], { tools: [tool("a", () => "real")], afterToolCall });
    await agent.prompt("hi");
    const [one] = results(agent.state.messages);
    expect(one?.content[0]).toEqual({ type: "text", text: "real" });
    expect(one?.content.every((block) => block.type === "text")).toBe(true);
    expect(textOf(one)).toMatch("content" in (answer as object) && one?.content.length === 1 ? /^real$/ : /hook/);
  });

  it("C15 S5 what hooks and details hold cannot change the transcript, and is plain data", async () => {
    const held: { toolCall: { arguments: object }; assistantMessage: { content: unknown[] }; args: object }[] = [];
    const { agent, events } = rig([reply(call("a", { x: 1 })), reply("end")], {
      tools: [tool("a", () => result("real", { details: { big: 2n } }))],
      beforeToolCall: (question) => void held.push(question),
      afterToolCall: (question) => void held.push(question),
    });
    await agent.prompt("hi");
    const before = JSON.stringify([events, agent.snapshot()]);
    expect(before).toContain('"big":"2"');
    for (const { toolCall, assistantMessage, args } of held) {
      Object.assign(toolCall.arguments, { evil: 1 });
      Object.assign(args, { evil: 1 });
      assistantMessage.content.length = 0;
    }
    expect(held).toHaveLength(2);
    expect(JSON.stringify([events, agent.snapshot()])).toBe(before);
  });

  it("C13 afterToolCall replaces field by field, is not asked for what never ran, and keeps the output when it throws", async () => {
    const asked: [string, boolean][] = [];
    const { agent, script } = rig([reply(call("a"), call("b"), call("c"), call("d"), call("none")), reply("never")], {
      tools: ["a", "b", "c"]
        .map((name) => tool(name, () => result(name, { details: { name } })))
        .concat(
          tool("d", () => {
            throw new Error("d failed");
          }),
        ),
      beforeToolCall: ({ toolCall }) => (toolCall.name === "b" ? { block: true } : undefined),
      afterToolCall: async ({ toolCall, isError, result: given }) => {
        asked.push([toolCall.name, isError]);
        if (toolCall.name === "a") return { content: [{ type: "text", text: "A" }], isError: true };
        if (toolCall.name === "c") throw new Error("after broke");
        expect(given.content).toHaveLength(1);
        return { details: { fixed: true }, isError: false };
      },
    });
    await agent.prompt("hi");
    expect(asked).toEqual([
      ["a", false],
      ["c", false],
      ["d", true],
    ]);
    const [a, , c, d] = results(agent.state.messages);
    expect(a).toMatchObject({ content: [{ text: "A" }], isError: true, details: { name: "a" } });
    expect(c).toMatchObject({
      content: [{ text: "c" }, { text: expect.stringContaining("after broke") }],
      isError: false,
    });
    expect(d).toMatchObject({ content: [{ text: "d failed" }], isError: false, details: { fixed: true } });
    expect(script.calls).toHaveLength(2);
    const terminating = rig([reply(call("a")), reply("never")], {
      tools: [tool("a")],
      afterToolCall: () => ({ terminate: true }),
    });
    await terminating.agent.prompt("hi");
    expect(terminating.script.calls).toHaveLength(1);
  });

  it("C14 an approval after an abort runs nothing", async () => {
    let ran = 0;
    const question = gate();
    const asked = gate();
    const { agent, script } = rig([reply(call("a"), call("a"))], {
      tools: [tool("a", () => String(ran++))],
      beforeToolCall: async () => {
        asked.open();
        await question.promise;
        return undefined;
      },
    });
    const run = agent.prompt("hi");
    await asked.promise;
    agent.abort();
    question.open();
    await run;
    expect(ran).toBe(0);
    for (const text of texts(agent)) expect(text).toMatch(/never started/);
    expect(script.calls).toHaveLength(1);
    // Also when a call waits for others to make room.
    const stuck = gate();
    const room = rig([reply(call("a"), call("a"))], {
      tools: [tool("a", () => after(stuck.open(), new Promise(() => undefined)))],
      limits: { maxParallelCalls: 1, abortGraceMs: 5 },
    });
    const waiting = room.agent.prompt("hi");
    await stuck.promise;
    room.agent.abort();
    await waiting;
    expect(order(room.events, "tool_execution_start")).toHaveLength(1);
    expect(texts(room.agent)[1]).toMatch(/never started/);
    // And when the abort comes with the very event that announces the start.
    const late = rig([reply(call("a"))], { tools: [tool("a", () => String(ran++))] });
    late.agent.subscribe((event) => {
      if (event.type === "tool_execution_start") late.agent.abort();
    });
    await late.agent.prompt("hi");
    expect(ran).toBe(0);
    expect(eventFaults(late.events)).toEqual([]);
  });

  it("C15 late updates are dropped, and tools share no objects with the transcript", async () => {
    let update: (partial: ReturnType<typeof result>) => void = () => undefined;
    const given = result("kept", { details: { list: [1], self: undefined, run: () => 1 } });
    const sneaky = {
      ...tool("sneaky"),
      execute: async (_id: string, args: Record<string, unknown>, _signal: AbortSignal, onUpdate: typeof update) => {
        update = onUpdate;
        onUpdate(result("half"));
        args.path = "changed";
        (args.list as number[]).push(2);
        return given;
      },
    };
    const { agent, events } = rig(
      [
        reply(call("sneaky", { path: "real", list: [1] })),
        () => {
          update(result("late"));
          Object.assign(given.content[0] ?? {}, { text: "changed" });
          (given.details as { list: number[] }).list.push(2);
          return reply("end");
        },
      ],
      { tools: [sneaky] },
    );
    await agent.prompt("hi");
    const updates = events.flatMap((event) => (event.type === "tool_execution_update" ? [event.partialResult] : []));
    expect(updates).toEqual([result("half")]);
    expect(assistants(agent.state.messages)[0]?.content).toEqual([
      expect.objectContaining({ arguments: { path: "real", list: [1] } }),
    ]);
    expect(results(agent.state.messages)[0]).toMatchObject({ content: [{ text: "kept" }], details: { list: [1] } });
    const start = events.find((event) => event.type === "tool_execution_start");
    expect(start).toMatchObject({ args: { path: "real", list: [1] } });
  });

  it("C15 details that contain themselves cost their details, not the result", async () => {
    const details: Record<string, unknown> = {};
    details.self = details;
    const { agent } = rig([reply(call("a")), reply("end")], { tools: [tool("a", () => result("fine", { details }))] });
    await agent.prompt("hi");
    expect(results(agent.state.messages)[0]).toMatchObject({ content: [{ text: "fine" }], isError: false });
    JSON.stringify(agent.snapshot());
  });

  it("C16 the bookkeeping of a batch is linear in its calls", async () => {
    const batch = async (count: number, same: boolean) => {
      const calls = Array.from({ length: count }, (_, index) => ({
        type: "toolCall",
        id: same ? "x" : `c${index}`,
        name: "a",
        arguments: { index },
      }));
      let step = 0;
      const { agent } = rig([], {
        tools: [tool("a")],
        streamFn: (...args) =>
          rawStream(async function* () {
            yield {
              type: "done",
              reason: "stop",
              message: step++ === 0 ? assistant(calls) : assistant([{ type: "text", text: "end" }]),
            };
          })(...args),
        beforeToolCall: () => undefined,
      });
      const work = await countWork(() => agent.prompt("hi"));
      expect(results(agent.state.messages)).toHaveLength(count);
      return work;
    };
    // 8 for linear, 64 for quadratic.
    for (const same of [false, true]) expect((await batch(800, same)) / (await batch(100, same))).toBeLessThan(12);
  });

  it("R012 hundreds of calls in one message run a few at a time, and their results keep the order", async () => {
    let running = 0;
    let most = 0;
    const sleep = tool("bash", async ({ n }) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      return `done ${n}`;
    });
    const calls = Array.from({ length: 500 }, (_, n) => call("bash", { n }));
    const { agent } = rig([reply(...calls), reply("end")], { tools: [sleep] });
    await agent.prompt("hi");
    expect(most).toBe(8);
    expect(texts(agent)).toEqual(calls.map((_, n) => `done ${n}`));
    expect(outline(agent.state.messages).at(-1)).toBe("assistant:end");
    most = 0;
    const capped = rig([reply(...calls)], { tools: [sleep], limits: { maxCallsPerMessage: 20, maxParallelCalls: 3 } });
    await capped.agent.prompt("hi");
    expect(most).toBe(3);
    expect(texts(capped.agent).filter((text) => text.startsWith("done"))).toHaveLength(20);
    expect(texts(capped.agent)[499]).toMatch(/at most 20 calls/);
    expect(capped.events.at(-1)).toMatchObject({ type: "agent_end", limit: "maxCallsPerMessage" });
  });

  it("R012 500 identical calls in one message are one repetition, not 500", async () => {
    const { agent, events } = rig([reply(...Array.from({ length: 500 }, () => call("a"))), reply("end")], {
      tools: [tool("a")],
    });
    await agent.prompt("hi");
    expect(events.at(-1)).not.toHaveProperty("limit");
    expect(texts(agent)).toEqual(Array.from({ length: 500 }, () => "a"));
  });

  it("R013 right values of the wrong JSON type run as if they had the right one", async () => {
    const seen: unknown[] = [];
    const parameters = {
      type: "object",
      properties: {
        limit: { type: "number" },
        offset: { type: "integer" },
        all: { type: "boolean" },
        edits: {
          type: "array",
          items: { type: "object", properties: { oldText: { type: "string" } }, required: ["oldText"] },
        },
        note: { type: "string" },
      },
      additionalProperties: false,
    };
    const args = { limit: "20", offset: "5", all: "true", edits: '[{"oldText":"x"}]', note: null, extra: 1 };
    const { agent } = rig([reply(call("read", args)), reply("end")], {
      tools: [tool("read", (given) => after(seen.push(given), "ok"), { parameters })],
    });
    await agent.prompt("hi");
    expect(seen).toEqual([{ limit: 20, offset: 5, all: true, edits: [{ oldText: "x" }] }]);
    expect(results(agent.state.messages)[0]?.isError).toBe(false);
  });

  it("R014 the model reads of an invalid call its fields, what was received and the schema in short", async () => {
    const parameters = {
      type: "object",
      properties: {
        path: { type: "string" },
        edits: { type: "array", items: { type: "object", properties: { oldText: { type: "string" } } } },
      },
      required: ["path", "edits"],
    };
    const { agent } = rig([reply(call("edit", { file: "x", edits: 5 })), reply(call("edit")), reply("end")], {
      tools: [tool("edit", undefined, { parameters })],
    });
    await agent.prompt("hi");
    const [first = "", second = ""] = texts(agent);
    for (const part of [
      "edit",
      "path: missing",
      "edits: expected array, received number 5",
      "file: unknown",
      "Received: file, edits",
      "{path: string, edits: {oldText?: string}[]}",
    ])
      expect(first).toContain(part);
    expect(second).toContain("Received: no fields");
  });

  it("R161 a tool that changes the tools in the middle of a batch does not disturb it", async () => {
    const { agent, events } = rig([reply(call("swap"), call("b")), reply("end"), reply(call("b")), reply("end")], {
      toolExecution: "sequential",
    });
    const swap = () => {
      agent.state.tools = [tool("c")];
      return "swapped";
    };
    agent.state.tools = [tool("swap", swap), tool("b")];
    await agent.prompt("hi");
    expect(texts(agent)).toEqual(["swapped", "b"]);
    await agent.prompt("again");
    expect(texts(agent)[2]).toMatch(/no tool "b".*c/s);
    expect(eventFaults(events.slice(0, types(events).indexOf("agent_end") + 1))).toEqual([]);
  });
});
