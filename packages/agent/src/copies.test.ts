import { createScript, reply } from "@tau/llm/testing";
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
  rawStream,
  result,
  results,
  rig,
  textOf,
  tool,
  user,
} from "./__fixtures__/kit.ts";
import { defaultConvertToLlm } from "./convert.ts";
import type { AgentEvent } from "./events.ts";
import { runAgentLoop } from "./loop.ts";
import { agentLoop } from "./pull.ts";
import type { AgentTool } from "./tool.ts";

type Message = ReturnType<typeof assistant>;
type Change = (message: Message) => object;

/** A provider that has one message object only: each change is made to it, and told with it. */
const changing = (changes: Change[]) => {
  const message = assistant([]);
  return rawStream(async function* () {
    yield { type: "start", partial: message };
    for (const change of changes) yield { ...change(message), partial: message };
    yield { type: "done", reason: "stop", message };
  });
};
const block = (message: Message, at: number) => message.content[at] as unknown as Record<string, string>;
const opens = (at: number, given: Record<string, unknown>): Change => {
  const kind = String(given.type).toLowerCase();
  return (message) =>
    after(message.content.push(given as never), {
      id: given.id,
      name: given.name,
      type: `${kind}_start`,
      contentIndex: at,
    });
};
const grows = (at: number, field: "text" | "thinking", delta: string): Change => {
  return (message) => {
    block(message, at)[field] += delta;
    message.usage.output++;
    message.usage.cost.total++;
    return { type: `${field}_delta`, contentIndex: at, delta };
  };
};
const growsArguments =
  (at: number, delta: string): Change =>
  (message) => {
    const args = block(message, at).arguments as unknown as Record<string, string>;
    args.path = `${args.path ?? ""}${delta}`;
    return { type: "toolcall_delta", contentIndex: at, delta };
  };

describe("what is recorded", () => {
  it("S5 a provider that changes one message and sends it again and again changes nothing that was recorded", async () => {
    const said = [..."some words that come one by one"].flatMap((letter) => [
      grows(1, "text", letter),
      grows(0, "thinking", letter.toUpperCase()),
      growsArguments(2, letter),
    ]);
    const streamFn = changing([
      opens(0, { type: "thinking", thinking: "" }),
      opens(1, { type: "text", text: "" }),
      opens(2, { type: "toolCall", id: "", name: "a", arguments: {} }),
      ...said,
      (message) => ({ type: "toolcall_end", contentIndex: 2, toolCall: message.content[2] }),
      grows(1, "text", "!"),
      growsArguments(2, "!"),
    ]);
    const script = createScript([reply("end")]);
    let requests = 0;
    const { agent, events } = rig([], {
      tools: [tool("a")],
      streamFn: (...args) => (requests++ === 0 ? streamFn(...args) : script.streamFn(...args)),
    });
    const told: string[] = [];
    const shown: string[] = [];
    agent.subscribe((event) => {
      told.push(JSON.stringify(event));
      if (event.type === "message_update") shown.push(JSON.stringify(agent.state.streamingMessage));
    });
    await agent.prompt("hi");
    expect(events.map((event) => JSON.stringify(event))).toEqual(told);
    const updates = events.flatMap((event) => (event.type === "message_update" ? [event] : []));
    expect(updates.map(({ message }) => JSON.stringify(message))).toEqual(shown);
    for (const { message, assistantMessageEvent } of updates)
      if ("partial" in assistantMessageEvent) expect(assistantMessageEvent.partial).toBe(message);
    const texts = updates.flatMap(({ message, assistantMessageEvent: { type } }) =>
      type === "text_delta" ? [textOf({ ...message, content: message.content.slice(1, 2) })] : [],
    );
    expect(texts.slice(0, 4)).toEqual(["s", "so", "som", "some"]);
    expect(eventFaults(events)).toEqual([]);
  });

  it("S5 the cost of such a provider is linear too", async () => {
    const work = (count: number) => {
      const deltas = Array.from({ length: count }, (_, index) => grows(0, "text", `${index} `));
      const { agent } = rig([], { streamFn: changing([opens(0, { type: "text", text: "" }), ...deltas]) });
      return countWork(() => agent.prompt("hi"));
    };
    expect((await work(4000)) / (await work(500))).toBeLessThan(10);
  });

  it("R305 thousands of calls in one reply: no event looks at the blocks of the others", async () => {
    const count = 12_000;
    const blocks = Array.from({ length: count }, (_, at) => call("a", { at }, `c${at}`));
    let looks = 0;
    // As @tau/llm gives it: a message whose list is made when someone looks.
    const upTo = (length: number) => {
      const look = () => {
        looks++;
        return blocks.slice(0, length);
      };
      return Object.defineProperty(assistant([]), "content", { enumerable: true, configurable: true, get: look });
    };
    const { agent, events } = rig([], {
      streamFn: rawStream(async function* () {
        yield { type: "start", partial: assistant([]) };
        for (const [at, block] of blocks.entries()) {
          const partial = upTo(at + 1);
          yield { type: "toolcall_start", contentIndex: at, id: block.id, name: "a", partial };
          yield { type: "toolcall_end", contentIndex: at, toolCall: block, partial };
        }
        yield { type: "done", reason: "stop", message: assistant([{ type: "text", text: "enough" }]) };
      }),
    });
    const work = await countWork(() => agent.prompt("hi"));
    expect(looks).toBe(0);
    expect(work / count).toBeLessThan(200);
    const partials = events.flatMap((event) =>
      event.type === "message_update" && event.assistantMessageEvent.type === "toolcall_end"
        ? [event.assistantMessageEvent]
        : [],
    );
    expect(partials).toHaveLength(count);
    const ids = (at: number) => partials[at]?.partial.content.map((block) => (block as { id?: string }).id);
    expect(ids(3)).toEqual(["c0", "c1", "c2", "c3"]);
    expect(ids(count - 1)?.at(-1)).toBe(`c${count - 1}`);
    expect(looks).toBe(2);
  });

  it("C10 a list that is worked out when someone looks has unique ids too", async () => {
    const blocks = ["a", "b", "b", "c"].map((id) => call("x", {}, id));
    const { agent, events } = rig([], {
      streamFn: rawStream(async function* () {
        for (const [at, { id }] of blocks.entries()) {
          const look = { enumerable: true, configurable: true, get: () => blocks.slice(0, at + 1) };
          const partial = Object.defineProperty(assistant([]), "content", look);
          yield { type: "toolcall_start", contentIndex: at, id, name: "x", partial };
        }
        yield { type: "done", reason: "stop", message: assistant([{ type: "text", text: "enough" }]) };
      }),
    });
    await agent.prompt("hi");
    const shown = events.flatMap((event) => (event.type === "message_update" ? [event.message] : []));
    const ids = shown.at(-1)?.content.map((block) => (block as { id?: string }).id);
    expect(ids).toEqual(["a", "b", "b_2", "c"]);
  });

  it("R305 calls that bring no message are kept beyond any index that would be junk", async () => {
    const count = 10_100;
    const { agent, events } = rig([], {
      streamFn: rawStream(async function* () {
        yield { type: "start" };
        for (let at = 0; at < count; at++)
          yield { type: "toolcall_end", contentIndex: at, toolCall: call("a", { at }, `c${at}`) };
        throw new Error("broken off");
      }),
    });
    await agent.prompt("hi");
    const said = assistants(agent.state.messages)[0];
    expect(said?.content).toHaveLength(count);
    expect(said?.content.at(-1)).toMatchObject({ id: `c${count - 1}` });
    expect(eventFaults(events)).toEqual([]);
  });

  it("S4 deltas that bring no message are kept, whether the stream throws or ends", async () => {
    const wire = [
      { type: "start" },
      { type: "thinking_start", contentIndex: 0 },
      { type: "thinking_delta", contentIndex: 0, delta: "let " },
      { type: "text_delta", contentIndex: 1, delta: "half " },
      { type: "thinking_delta", contentIndex: 0, delta: "me" },
      { type: "text_delta", contentIndex: 1, delta: "a text" },
      { type: "thinking_end", contentIndex: 0, content: "let me see" },
      { type: "toolcall_start", contentIndex: 2, id: "c1", name: "a" },
      { type: "toolcall_delta", contentIndex: 2, delta: '{"x":' },
    ];
    for (const end of ["throw", "end", "abort"]) {
      const { agent, events } = rig([], {
        tools: [tool("a")],
        streamFn: rawStream(async function* () {
          yield* wire;
          if (end === "throw") throw new Error("broken");
          if (end !== "abort") return;
          agent.abort();
          await new Promise(() => undefined);
        }),
      });
      const told: string[] = [];
      agent.subscribe((event) => void told.push(JSON.stringify(event)));
      await agent.prompt("hi");
      const [message] = assistants(agent.state.messages);
      expect(message).toMatchObject({
        stopReason: end === "abort" ? "aborted" : "error",
        content: [
          { type: "thinking", thinking: "let me see" },
          { type: "text", text: "half a text" },
          { type: "toolCall", id: "c1", name: "a", arguments: {} },
        ],
      });
      expect(events.map((event) => JSON.stringify(event))).toEqual(told);
      expect(eventFaults(events)).toEqual([]);
      if (end === "abort") continue;
      const shown = events.flatMap((event) => (event.type === "message_update" ? [textOf(event.message)] : []));
      expect(shown.slice(0, 5)).toEqual(["", "", "half ", "half ", "half a text"]);
    }
  });

  it("S4 what a provider changes beside the block that an event is about is kept too", async () => {
    const thinking = { type: "thinking", thinking: "hm" };
    const signed = { ...thinking, thinkingSignature: "late" };
    const steps: [number, unknown[]][] = [
      [0, [thinking]],
      [1, [thinking, { type: "text", text: "a" }]],
      [1, [signed, { type: "text", text: "ab" }]],
      [0, [signed, { type: "text", text: "abc" }]],
      [0, [signed, { type: "text", text: "abcd" }]],
    ];
    const { agent } = rig([], {
      streamFn: rawStream(async function* () {
        for (const [contentIndex, content] of steps)
          yield { type: "text_delta", contentIndex, delta: "x", partial: assistant(content) };
        throw new Error("broken");
      }),
    });
    await agent.prompt("hi");
    expect(assistants(agent.state.messages)[0]?.content).toEqual([signed, { type: "text", text: "abcd" }]);
  });

  it("S4 junk among the events and indices beyond all bounds take nothing from what arrived", async () => {
    const junk = [null, 5, {}, { type: "zzz" }, { type: "text_delta", contentIndex: "x", delta: "no" }];
    const { agent, events } = rig([], {
      streamFn: rawStream(async function* () {
        yield* junk;
        yield { type: "text_delta", contentIndex: 0, delta: "kept", partial: 7 };
        yield* junk;
        yield { type: "text_delta", contentIndex: 2 ** 40, delta: "far" };
        yield { type: "text_delta", contentIndex: -3, delta: " too" };
        yield { type: "thinking_delta", contentIndex: 1, delta: "hm", partial: { content: "junk" } };
      }),
    });
    await agent.prompt("hi");
    expect(textOf(assistants(agent.state.messages)[0])).toMatch(/^kept too.*far$/);
    expect(eventFaults(events)).toEqual([]);
  });

  it("S3 a message without sound usage gets one, and the totals stay numbers", async () => {
    for (const usage of [undefined, null, {}, 5, { totalTokens: Number.NaN, cost: null }, { cost: { total: 2 } }]) {
      const message = { ...assistant([{ type: "text", text: "x" }]), usage };
      const { agent, events } = rig([], {
        streamFn: rawStream(async function* () {
          yield { type: "text_delta", contentIndex: 0, delta: "x", partial: message };
          yield { type: "done", reason: "stop", message };
        }),
      });
      await agent.prompt("hi");
      const { totalTokens, totalCost } = agent.state;
      expect([totalTokens, totalCost]).toEqual([0, usage && "cost" in Object(usage) && Object(usage).cost ? 2 : 0]);
      expect(events.map(({ type }) => type)).not.toContain("listener_error");
    }
  });

  it("R1 a caller that changes its message later changes nothing of ours", async () => {
    const change = (message: { content: unknown }) => Object.assign(message, { content: "CHANGED", role: "system" });
    const given = () => user("said");
    const { agent, events } = rig(() => reply("ok"));
    const [prompted, listed, steered, followed] = [given(), given(), given(), given()];
    agent.steer(steered);
    agent.followUp(followed);
    for (const message of [steered, followed]) change(message);
    expect(JSON.stringify(agent.snapshot())).not.toContain("CHANGED");
    const run = agent.prompt(prompted);
    change(prompted);
    await run;
    const second = agent.prompt([listed]);
    change(listed);
    await second;
    const interrupting = given();
    const third = agent.prompt("x");
    const interrupted = agent.interrupt(interrupting);
    change(interrupting);
    await Promise.all([third, interrupted]);
    const users = agent.state.messages.filter(({ role }) => role === "user").map(textOf);
    expect(users.filter((line) => line === "said")).toHaveLength(5);
    expect(JSON.stringify([agent.state.messages, events])).not.toContain("CHANGED");

    const images = [{ type: "image" as const, data: "AA==", mimeType: "image/png" }];
    const picture = agent.prompt("look", images);
    Object.assign(images[0] ?? {}, { data: "CHANGED" });
    await picture;
    expect(JSON.stringify(agent.state.messages)).not.toContain("CHANGED");

    const looped = given();
    const config = { model, convertToLlm: defaultConvertToLlm };
    const { streamFn } = createScript(() => reply("ok"));
    const added = runAgentLoop([looped], { messages: [] }, config, () => undefined, undefined, streamFn);
    change(looped);
    expect(outline(await added)[0]).toBe("user:said");
    const pulled = given();
    const stream = agentLoop([pulled], { messages: [] }, config, undefined, streamFn);
    const first = stream.next();
    change(pulled);
    await first;
    expect(outline(await stream.result())[0]).toBe("user:said");
  });

  it("R1 what is neither text nor message is refused with what was expected, and nothing changes", async () => {
    const { agent, events, script } = rig([reply("ok")]);
    const before = agent.snapshot();
    const junk = [undefined, null, 5, true, {}, { role: 5 }, { role: "user" }, { role: "assistant", content: {} }];
    for (const one of [...junk, () => "x", Symbol("x")] as never[]) {
      for (const given of [one, [one], [user("good"), one]] as never[])
        await expect(agent.prompt(given)).rejects.toThrow(/Expected a text or a message/);
      await expect(agent.prompt(one)).rejects.toThrow(TypeError);
      await expect(agent.interrupt(one)).rejects.toThrow(TypeError);
      expect(() => agent.steer(one)).toThrow(TypeError);
      expect(() => agent.followUp(one)).toThrow(TypeError);
      const { streamFn } = script;
      const config = { model, convertToLlm: defaultConvertToLlm };
      const loop = runAgentLoop([one], { messages: [] }, config, () => undefined, undefined, streamFn);
      await expect(loop).rejects.toThrow(TypeError);
    }
    expect(agent.snapshot()).toEqual(before);
    expect([events, script.calls]).toEqual([[], []]);
    const started = gate();
    const running = rig([reply(call("a")), reply("end")], {
      tools: [tool("a", () => after(started.open(), "a"))],
    });
    const run = running.agent.prompt("hi");
    await started.promise;
    await expect(running.agent.interrupt({} as never)).rejects.toThrow(TypeError);
    await run;
    expect(outline(running.agent.state.messages).at(-1)).toBe("assistant:end");
  });

  it("S3 a message that cannot be replayed still starts and ends once", async () => {
    const { agent, events } = rig(() => reply("ok"));
    const system = { role: "system", content: "x", sections: null, toolsAdded: 5, toolsRemoved: {}, timestamp: 1 };
    await agent.prompt(system as never);
    await agent.prompt("hi");
    const starts = events.flatMap(({ type }, at) => (type === "agent_start" ? [at] : []));
    for (const [index, at] of starts.entries()) expect(eventFaults(events.slice(at, starts[index + 1]))).toEqual([]);
    expect(outline(agent.state.messages).at(-1)).toBe("assistant:ok");
  });
});

describe("what tools give back", () => {
  const circular: Record<string, unknown> = { name: "me" };
  circular.self = circular;
  circular.list = [circular, { deep: circular }];
  const throwing = {
    get field() {
      throw new Error("no");
    },
  };
  const details: [unknown, unknown][] = [
    [
      { nan: Number.NaN, inf: [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY] },
      { nan: null, inf: [null, null] },
    ],
    [Number.NaN, null],
    [{ a: undefined, b: () => 1, c: Symbol("c"), d: 1 }, { d: 1 }],
    [
      [undefined, () => 1],
      [null, null],
    ],
    [
      { big: 12n, list: [1n] },
      { big: "12", list: ["1"] },
    ],
    [new Date(0), "1970-01-01T00:00:00.000Z"],
    [new Map([[1, 2]]), {}],
    [circular, { name: "me", list: [null, {}] }],
    [Object.assign(Object.create(null), { bare: 1 }), { bare: 1 }],
    [throwing, undefined],
    [{ toJSON: () => circular }, { name: "me", list: [null, {}] }],
    [() => 1, undefined],
  ];
  const plain = (value: unknown) => expect(JSON.parse(JSON.stringify(value))).toEqual(value);

  it.each(details.map(([given, kept], index) => ({ index, given, kept })))(
    "R7 details become plain JSON and never break a run ($index)",
    async ({ given, kept }) => {
      const talking: AgentTool = {
        ...tool("a"),
        execute: async (_id, _args, _signal, onUpdate) => {
          onUpdate({ ...result("half"), details: given });
          return { ...result("whole"), details: given };
        },
      };
      const seen: unknown[] = [];
      const { agent, events, script } = rig([reply(call("a")), reply("end")], {
        tools: [talking],
        afterToolCall: (context) => after(seen.push(context.result.details), undefined),
      });
      await agent.prompt("hi");
      script.assertDone();
      expect(results(agent.state.messages)[0]).toMatchObject({ isError: false, content: [{ text: "whole" }] });
      expect(results(agent.state.messages)[0]?.details).toEqual(kept);
      expect(seen).toEqual([kept]);
      const snapshot = agent.snapshot();
      plain(snapshot);
      for (const event of events)
        if (event.type !== "tool_execution_end" && event.type !== "tool_execution_update") plain(event);
        else expect(JSON.stringify(event)).toBeTypeOf("string");
      expect(eventFaults(events)).toEqual([]);
      agent.restore(JSON.parse(JSON.stringify(snapshot)));
      expect(agent.snapshot()).toEqual(snapshot);
    },
  );

  it("C8 content that is not plain JSON is made so; what says nothing then is an error result", async () => {
    const image = { type: "image", data: "AA==", mimeType: "image/png" };
    const cases: [unknown, unknown][] = [
      [[{ type: "text", text: "a", size: Number.NaN, self: circular }], { isError: false }],
      [[{ type: "text", text: "a" }, throwing, { type: "text", text: 5n }, null, 3], { isError: false }],
      [[image, { type: "image", data: new Uint8Array(2) }], { isError: false, content: [image] }],
      [[{ type: "text", text: Number.NaN }], { isError: true }],
      [[throwing], { isError: true }],
      [new Map(), { isError: true }],
    ];
    for (const [content, expected] of cases) {
      const junk = { content, details: {} } as never;
      const one: AgentTool = {
        ...tool("a"),
        execute: async (_id, _args, _signal, update) => after(update(junk), junk),
      };
      const { agent, events, script } = rig([reply(call("a")), reply("end")], { tools: [one] });
      await agent.prompt("hi");
      script.assertDone();
      const [message] = results(agent.state.messages);
      expect(message).toMatchObject(expected as object);
      expect(message?.content.length).toBeGreaterThan(0);
      plain(agent.snapshot());
      for (const event of events)
        if (event.type === "tool_execution_update") expect(event.partialResult.content).toBeInstanceOf(Array);
      expect(eventFaults(events)).toEqual([]);
    }
  });

  it("C11 the reason of a hook is shown as text, whatever it is", async () => {
    for (const reason of [5, {}, null, undefined] as never[]) {
      const { agent } = rig([reply(call("a")), reply("end")], {
        tools: [tool("a")],
        beforeToolCall: () => ({ block: true, reason }),
      });
      await agent.prompt("hi");
      expect(results(agent.state.messages)[0]).toMatchObject({
        isError: true,
        content: [{ text: expect.any(String) }],
      });
    }
  });

  it("R7 a snapshot is plain JSON whatever the model, the tools and the messages bring along", async () => {
    const odd = { ...model, compat: { at: new Date(0), no: undefined, nan: Number.NaN } };
    const events: AgentEvent[] = [];
    const { agent } = rig([reply("ok")], { initialState: { model: odd, messages: [user("old")] }, tools: [] });
    agent.subscribe((event) => void events.push(event));
    await agent.prompt({ ...user("hi"), extra: { self: circular, nan: Number.NaN, fn: () => 1 } } as never);
    plain(agent.snapshot());
    expect(eventFaults(events)).toEqual([]);
  });
});

describe("what hooks get to see", () => {
  it("C15 a hook that keeps and changes what it saw changes neither the batch, nor the transcript, nor an event", async () => {
    const seen: { list: string[]; args: unknown }[] = [];
    const kept: unknown[] = [];
    const wreck = (value: unknown): void => {
      for (const [key, field] of Object.entries(value ?? {})) {
        if (field && typeof field === "object") wreck(field);
        else if (typeof field === "string") Object.assign(value as object, { [key]: "EVIL" });
      }
      if (Array.isArray(value)) value.length = 0;
    };
    const { agent, events } = rig(
      [
        reply(call("a", { list: ["x"] }, "c1"), call("a", { list: ["y"] }, "c2"), call("b", { list: ["z"] }, "c3")),
        reply(call("a", { list: ["again"] }, "c4")),
        reply("end"),
      ],
      {
        tools: [tool("a", (args) => after(seen.push({ list: args.list as string[], args }), "a")), tool("b")],
        toolExecution: "sequential",
        beforeToolCall: (question) => {
          const { toolCall } = question;
          const { name } = toolCall;
          const args = { list: [...(toolCall.arguments.list as string[])] };
          kept.push(args);
          // Messages are those of the transcript: `transformContext` is the place to change what is sent.
          wreck([question.assistantMessage, toolCall, question.args]);
          question.context.tools?.splice(0);
          question.context.messages.length = 0;
          return name === "b" ? { block: true } : { args };
        },
        afterToolCall: ({ context, ...question }) => {
          wreck(question);
          context.messages.length = 0;
          context.tools?.splice(0);
          return undefined;
        },
        shouldStopAfterTurn: ({ context }) => {
          context.messages.length = 0;
          context.tools?.splice(0);
          return false;
        },
      },
    );
    const told: string[] = [];
    agent.subscribe((event) => void told.push(JSON.stringify(event)));
    await agent.prompt("hi");
    wreck(kept);
    wreck(seen.map(({ args }) => args));
    expect(events.map((event) => JSON.stringify(event))).toEqual(told);
    expect(JSON.stringify([agent.state.messages, events])).not.toContain("EVIL");
    expect(outline(agent.state.messages)).toEqual([
      "user:hi",
      "assistant:call(a),call(a),call(b)",
      "toolResult:a",
      "toolResult:a",
      "toolResult:This call was blocked.",
      "assistant:call(a)",
      "toolResult:a",
      "assistant:end",
    ]);
    expect(results(agent.state.messages).map(({ toolCallId }) => toolCallId)).toEqual(["c1", "c2", "c3", "c4"]);
  });

  it("B9 a caller that changes the lists it gave to a run changes nothing of it", async () => {
    const tools = [tool("a")];
    const messages = [user("old")];
    const script = createScript([reply(call("a")), reply("end")]);
    const config = { model, convertToLlm: defaultConvertToLlm };
    const emit = () => {
      tools.length = 0;
      messages.length = 0;
    };
    const added = await runAgentLoop([user("hi")], { messages, tools }, config, emit, undefined, script.streamFn);
    expect(outline(added)).toEqual(["user:hi", "assistant:call(a)", "toolResult:a", "assistant:end"]);
    expect(script.calls.map(({ context }) => context.messages.length)).toEqual([2, 4]);
  });
});
