import type { AssistantMessageEvent, StreamFn } from "@tau/llm";
import { createScript, reply, type ScriptFault, text, thinking } from "@tau/llm/testing";
import { describe, expect, it } from "vitest";
import {
  after,
  assistant,
  assistants,
  call,
  countWork,
  eventFaults,
  gate,
  outline,
  pairingFaults,
  rawStream,
  results,
  rig,
  textOf,
  tool,
  types,
} from "./__fixtures__/kit.ts";
import type { AgentEvent } from "./events.ts";

const settle = () => new Promise((resolve) => setImmediate(resolve));
const updates = (events: AgentEvent[]) =>
  events.flatMap((event) => (event.type === "message_update" ? [event.assistantMessageEvent] : []));
const partial = (value: string) => assistant([{ type: "text", text: value }]);
const delta = (value: string, whole: string, contentIndex = 0) => ({
  type: "text_delta",
  contentIndex,
  delta: value,
  partial: partial(whole),
});
const done = (value: string) => ({ type: "done", reason: "stop", message: partial(value) });

describe("streams", () => {
  it("S2 every event is forwarded, in order; start and done become message_start and message_end", async () => {
    const { agent, events } = rig(
      [{ ...reply(thinking("hmm"), "hello", call("a", { x: "y" })), chunkSize: 2 }, reply("end")],
      { tools: [tool("a")] },
    );
    await agent.prompt("hi");
    const first = events.slice(4, types(events).indexOf("tool_execution_start"));
    expect(first.at(0)?.type).toBe("message_start");
    expect(first.at(-1)?.type).toBe("message_end");
    const forwarded = updates(first);
    expect(forwarded.map(({ type }) => type).filter((type) => type.endsWith("start") || type.endsWith("end"))).toEqual([
      ...["thinking_start", "thinking_end", "text_start", "text_end", "toolcall_start", "toolcall_end"],
    ]);
    const deltas = (kind: string) =>
      forwarded.flatMap((event) => (event.type === kind && "delta" in event ? [event.delta] : []));
    expect(deltas("text_delta")).toEqual(["he", "ll", "o"]);
    expect(deltas("thinking_delta")).toEqual(["hm", "m"]);
    expect(deltas("toolcall_delta").join("")).toBe('{"x":"y"}');
  });

  it("S2 deltas without a start open the message themselves", async () => {
    const { agent, events } = rig([], {
      streamFn: rawStream(async function* () {
        yield delta("a", "a");
        yield delta("b", "ab");
        yield done("ab");
      }),
    });
    await agent.prompt("hi");
    expect(types(events).slice(4, 8)).toEqual(["message_start", "message_update", "message_update", "message_end"]);
  });

  it("S3 message_end has the truth, whatever the partials said, and every message one start and one end", async () => {
    const { agent, events } = rig([], {
      streamFn: rawStream(async function* () {
        yield { type: "start", partial: partial("") };
        yield { type: "start", partial: partial("") };
        yield delta("wrong", "wrong");
        yield done("right");
        yield delta("late", "late");
      }),
    });
    await agent.prompt("hi");
    expect(textOf(agent.state.messages.at(-1))).toBe("right");
    expect(eventFaults(events)).toEqual([]);
    const only = rig([], {
      streamFn: rawStream(async function* () {
        yield done("at once");
      }),
    });
    await only.agent.prompt("hi");
    expect(types(only.events).slice(4, 6)).toEqual(["message_start", "message_end"]);
  });

  const faults: ScriptFault[] = ["throw", "reject", "never_start", "end_without_done", "throw_midway"];
  it.each(faults)("S4 a stream with the fault %s is an error reply that keeps what had arrived", async (fault) => {
    const { agent, events } = rig([
      { ...reply("half a text that is long enough for several deltas"), chunkSize: 5, fault },
    ]);
    await agent.prompt("hi");
    const message = assistants(agent.state.messages)[0];
    expect(message).toMatchObject({
      stopReason: "error",
      errorMessage: expect.stringMatching(/\w/),
      provider: "scripted",
      model: "demo",
    });
    if (fault === "end_without_done") expect(textOf(message)).toMatch(/^half a text/);
    if (fault === "throw_midway") expect(textOf(message)).toMatch(/^half/);
    expect(eventFaults(events)).toEqual([]);
    expect(agent.state.isStreaming).toBe(false);
  });

  it("S4 junk instead of a stream, of events and of messages is an error reply", async () => {
    const sources: unknown[] = [
      undefined,
      {},
      [5, null, {}],
      [{ type: "done" }],
      [{ type: "error", error: 5 }],
      [{ type: "text_delta", contentIndex: 0, delta: "x" }],
    ];
    for (const source of sources) {
      const { agent, events } = rig([], {
        streamFn: (() =>
          Array.isArray(source)
            ? rawStream(async function* () {
                yield* source;
              })(undefined as never, undefined as never, {})
            : source) as never,
      });
      await agent.prompt("hi");
      expect(assistants(agent.state.messages)[0], JSON.stringify(source)).toMatchObject({ stopReason: "error" });
      expect(eventFaults(events)).toEqual([]);
    }
  });

  it("S4 an error event is an error, whatever stop its message bears; nothing of it runs", async () => {
    for (const stopReason of ["stop", "toolUse", undefined]) {
      let ran = 0;
      const message = { ...assistant([{ type: "toolCall", id: "a", name: "a", arguments: {} }]), stopReason };
      const streamFn = rawStream(async function* () {
        yield { type: "error", reason: "error", error: message };
      });
      const { agent } = rig([], { streamFn, tools: [tool("a", () => `${++ran}`)] });
      await agent.prompt("hi");
      expect(assistants(agent.state.messages).map((one) => one.stopReason)).toEqual(["error"]);
      expect([agent.state.errorMessage !== undefined, ran]).toEqual([true, 0]);
    }
  });

  it("S5 a provider that changes its message later changes nothing of ours", async () => {
    const message = assistant([{ type: "text", text: "said" }]);
    const streamFn = rawStream(async function* () {
      yield { type: "done", reason: "stop", message };
    });
    const { agent, events } = rig([], { streamFn });
    await agent.prompt("hi");
    expect(textOf(agent.state.messages[1])).toBe("said");
    const before = JSON.stringify(events);
    Object.assign(message.content[0] ?? {}, { text: "changed" });
    message.usage.input = 99;
    expect(JSON.stringify(events)).toBe(before);
  });

  it.each(["hang", "hang_midway"] as const)("S4 a stream that hangs (%s) is left by an abort", async (fault) => {
    const asked = gate();
    const step = () => after(asked.open(), { ...reply("never whole"), fault, ignoreAbort: true, chunkSize: 1 });
    const { agent, events } = rig([step]);
    const run = agent.prompt("hi");
    await asked.promise;
    await settle();
    agent.abort();
    await run;
    expect(assistants(agent.state.messages)[0]).toMatchObject({ stopReason: "aborted" });
    expect(eventFaults(events)).toEqual([]);
  });

  it("S5 no work a delta grows with the message, and recorded events never change", async () => {
    const play = async (count: number) => {
      const shared = partial("p");
      const { agent, events } = rig([], {
        streamFn: rawStream(async function* () {
          yield { type: "start", partial: shared };
          for (let index = 0; index < count; index++)
            yield { type: "text_delta", contentIndex: 0, delta: `${index} `, partial: shared };
          yield done("x");
        }),
      });
      const work = await countWork(() => agent.prompt("hi"));
      expect(updates(events).length).toBe(count);
      for (const event of events) if (event.type === "message_update") expect(event.message).toEqual(shared);
      return work;
    };
    expect((await play(4000)) / (await play(500))).toBeLessThan(10);

    const copies: string[] = [];
    const { agent, events } = rig([{ ...reply("some text", call("a", { b: "c" })), chunkSize: 1 }, reply("end")], {
      tools: [tool("a")],
    });
    agent.subscribe((event) => void copies.push(JSON.stringify(event)));
    await agent.prompt("hi");
    const now = events.map((event) => JSON.stringify(event));
    expect(now.filter((_, index) => events[index]?.type !== "agent_end")).toEqual(
      copies.filter((_, index) => events[index]?.type !== "agent_end"),
    );
  });

  it("S6 a slow listener meets merged deltas, with nothing lost", async () => {
    const count = 5000;
    const { agent } = rig([], {
      streamFn: rawStream(async function* () {
        yield { type: "start", partial: partial("") };
        for (let index = 0; index < count; index++) {
          yield {
            type: index % 2 ? "text_delta" : "thinking_delta",
            contentIndex: index % 2,
            delta: `${index},`,
            partial: partial(String(index)),
          };
          if (index % 100 === 0) await settle();
        }
        yield { type: "text_end", contentIndex: 1, content: "", partial: partial("") };
        yield done("x");
      }),
    });
    const texts = ["", ""];
    let shown = 0;
    agent.subscribe(async (event) => {
      if (event.type !== "message_update") return;
      shown++;
      const update = event.assistantMessageEvent;
      if ("delta" in update) {
        texts[update.contentIndex] += update.delta;
        expect(event.message).toBe(update.partial);
      }
      for (let turn = 0; turn < 3; turn++) await settle();
    });
    await agent.prompt("hi");
    expect(shown).toBeLessThan(count / 10);
    const all = Array.from({ length: count }, (_, index) => index);
    expect(texts[0]).toBe(
      all
        .filter((index) => index % 2 === 0)
        .map((index) => `${index},`)
        .join(""),
    );
    expect(texts[1]).toBe(
      all
        .filter((index) => index % 2 === 1)
        .map((index) => `${index},`)
        .join(""),
    );
  });

  it("S6 a listener that only needs promises gets every delta", async () => {
    const { agent } = rig([{ ...reply("abcdefghij"), chunkSize: 1 }]);
    const seen: string[] = [];
    agent.subscribe(async (event) => {
      await undefined;
      if (event.type === "message_update" && event.assistantMessageEvent.type === "text_delta")
        seen.push(event.assistantMessageEvent.delta);
      await Promise.resolve().then(() => undefined);
    });
    await agent.prompt("hi");
    expect(seen).toEqual([..."abcdefghij"]);
  });

  it("S6 an abort overtakes deltas that are waiting", async () => {
    const slow = gate();
    const read = gate();
    let shown = 0;
    const { agent } = rig([], {
      streamFn: (_model, _context, { signal }) =>
        rawStream(async function* () {
          yield { type: "start", partial: partial("") };
          for (let index = 0; index < 50; index++)
            yield {
              type: index % 2 ? "text_start" : "text_delta",
              contentIndex: index,
              delta: "x",
              partial: partial("so far"),
            };
          read.open();
          while (!signal?.aborted) await settle();
          yield { type: "error", reason: "aborted", error: { ...partial("so far"), stopReason: "aborted" } };
        })(undefined as never, undefined as never, {}),
    });
    agent.subscribe(async (event) => {
      if (event.type !== "message_update") return;
      shown++;
      await slow.promise;
    });
    const run = agent.prompt("hi");
    await read.promise;
    agent.abort();
    slow.open();
    await run;
    expect(shown).toBe(1);
    expect(textOf(agent.state.messages.at(-1))).toBe("so far");
  });

  it("R009 one sentence over and over is stopped and cut, and the user sees a notice", async () => {
    const sentence = "I will now look at the file once more. ";
    const { agent, events, script } = rig([reply(`Let me see. ${sentence.repeat(2600)}`)]);
    await agent.prompt("hi");
    const [message] = assistants(agent.state.messages);
    expect(message).toMatchObject({ stopReason: "length", errorMessage: expect.stringMatching(/repeat/) });
    expect(textOf(message)).toMatch(/^Let me see. I will now look at the file once more. I will/);
    expect(textOf(message).length).toBeLessThan(3 * sentence.length);
    const arrived = updates(events)
      .map((event) => ("delta" in event ? event.delta : ""))
      .join("");
    expect(arrived.length).toBeLessThan(20_000);
    expect(agent.state.messages.at(-1)).toMatchObject({
      role: "custom",
      display: true,
      content: expect.stringMatching(/repeat/),
    });
    expect(eventFaults(events)).toEqual([]);
    expect(script.calls).toHaveLength(1);
  });

  it("R338 the request of a reply that is cut is ended; of a whole one there is nothing to end", async () => {
    const script = createScript([reply("I will now look again. ".repeat(4000)), reply("fine")]);
    const cancelled: number[] = [];
    const streamFn: StreamFn = async (...request) => {
      const stream = await script.streamFn(...request);
      let whole = false;
      const events = async function* () {
        for await (const event of stream) {
          whole = event.type === "done";
          yield event;
        }
      };
      const at = script.calls.length;
      const cancel = () => void (whole || cancelled.push(at));
      return { [Symbol.asyncIterator]: events, result: () => stream.result(), cancel };
    };
    const { agent } = rig([], { streamFn });
    await agent.prompt("hi");
    await agent.prompt("again");
    expect([script.calls.length, cancelled]).toEqual([2, [1]]);
  });

  it("S5 one short piece over and over is not a stuck sentence", async () => {
    for (const piece of ["x", "tok ", "hello world "]) {
      const { agent } = rig([reply(piece.repeat(20_000))]);
      await agent.prompt("hi");
      expect(textOf(agent.state.messages[1])).toHaveLength(20_000 * piece.length);
    }
  });

  it("R009 long texts that do not repeat, and repeated lines in arguments, are left alone", async () => {
    const long = Array.from({ length: 4000 }, (_, index) => `line ${index}: ${index % 7} of ${index * 31}\n`).join("");
    const code = `${"  }\n".repeat(500)}${long}${"=".repeat(3000)}`;
    const { agent } = rig(
      [reply(long, text(code), call("write", { content: "same line\n".repeat(4000) })), reply("end")],
      { tools: [tool("write")] },
    );
    await agent.prompt("hi");
    expect(assistants(agent.state.messages)[0]).toMatchObject({ stopReason: "toolUse" });
    expect(results(agent.state.messages)).toHaveLength(1);
  });

  it("R009 repeated thinking is cut too, and the model is asked again within the limit", async () => {
    const stuck = reply(thinking("Wait, let me think again. ".repeat(1000)));
    const { agent, events, script } = rig([stuck, stuck, stuck]);
    await agent.prompt("hi");
    expect(script.calls).toHaveLength(3);
    expect(events.at(-1)).toMatchObject({ limit: "maxConsecutiveLengthStops" });
  });

  it("C10 the ids of interleaved calls are fixed block by block", async () => {
    const calls = (count: number) =>
      assistant(["x", "x"].slice(0, count).map((id) => ({ type: "toolCall", id, name: "a", arguments: {} })));
    const events: (AssistantMessageEvent | object)[] = [
      { type: "start", partial: calls(0) },
      { type: "toolcall_start", contentIndex: 0, id: "x", name: "a", partial: calls(1) },
      { type: "toolcall_start", contentIndex: 1, id: "x", name: "a", partial: calls(2) },
      { type: "toolcall_delta", contentIndex: 0, delta: "{}", partial: calls(2) },
      { type: "toolcall_end", contentIndex: 1, toolCall: calls(2).content[1], partial: calls(2) },
      { type: "toolcall_end", contentIndex: 0, toolCall: calls(2).content[0], partial: calls(2) },
      { type: "done", reason: "toolUse", message: calls(2) },
    ];
    const script = createScript([reply("end")]);
    let step = 0;
    const { agent, events: seen } = rig([], {
      tools: [tool("a")],
      streamFn: (...args) =>
        step++ === 0
          ? rawStream(async function* () {
              yield* events;
            })(...args)
          : script.streamFn(...args),
    });
    await agent.prompt("hi");
    const ends = updates(seen).flatMap((event) =>
      event.type === "toolcall_end" ? [[event.contentIndex, event.toolCall.id]] : [],
    );
    const ids = assistants(agent.state.messages)[0]?.content.map((block) =>
      block.type === "toolCall" ? block.id : "",
    );
    expect(new Set(ids).size).toBe(2);
    expect(ends).toEqual([
      [1, ids?.[1]],
      [0, ids?.[0]],
    ]);
    for (const event of seen)
      if (event.type === "message_update")
        for (const [index, block] of event.message.content.entries())
          if (block.type === "toolCall") expect(block.id).toBe(ids?.[index]);
    expect(pairingFaults(script.calls[0]?.context.messages ?? [])).toEqual([]);
    expect(outline(agent.state.messages).at(-1)).toBe("assistant:end");
  });
});
