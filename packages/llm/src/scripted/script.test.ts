import { getEventListeners } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { AssistantMessageEvent, AssistantMessageEventStream } from "../protocol/events.ts";
import type { Context } from "../protocol/request.ts";
import { createScript, reply, type ScriptFault, scriptedModel, text, thinking, toolCall } from "../testing.ts";

const model = scriptedModel();
const context: Context = { messages: [{ role: "user", content: "hi", timestamp: 1 }] };

async function collect(stream: AssistantMessageEventStream): Promise<AssistantMessageEvent[]> {
  const events: AssistantMessageEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

describe("a script", () => {
  it("S1 plays each block as start, deltas, end with a partial", async () => {
    const blocks = [thinking("hmm", "sig"), "hello there", toolCall("read", { path: "a" })];
    const script = createScript([{ ...reply(...blocks), chunkSize: 4 }], { now: () => 7 });
    const stream = await script.streamFn(model, context, {});
    const events = await collect(stream);
    expect(events.map((event) => event.type)).toEqual([
      "start",
      ...["thinking_start", "thinking_delta", "thinking_end"],
      ...["text_start", "text_delta", "text_delta", "text_delta", "text_end"],
      ...["toolcall_start", "toolcall_delta", "toolcall_delta", "toolcall_delta", "toolcall_end"],
      "done",
    ]);
    const message = await stream.result();
    expect(message).toMatchObject({ stopReason: "toolUse", timestamp: 7, api: "scripted", model: "demo" });
    expect(message.content).toEqual([
      { type: "thinking", thinking: "hmm", thinkingSignature: "sig" },
      { type: "text", text: "hello there" },
      { type: "toolCall", id: "call_1_3", name: "read", arguments: { path: "a" } },
    ]);
    const partials = events.flatMap((event) => ("partial" in event ? [event.partial.content.at(-1)] : []));
    expect(partials[6]).toEqual({ type: "text", text: "hello th" });
    script.assertDone();
  });

  it("S5 a partial does not change after it was handed out", async () => {
    const script = createScript([{ ...reply("abcdef"), chunkSize: 1 }]);
    const seen: [unknown, string][] = [];
    for await (const event of await script.streamFn(model, context, {})) {
      if ("partial" in event) seen.push([event.partial, JSON.stringify(event.partial)]);
    }
    expect(seen).toHaveLength(9);
    for (const [partial, then] of seen) expect(JSON.stringify(partial)).toBe(then);
  });

  it("records frozen copies of what was sent", async () => {
    const script = createScript([reply("a"), reply("b")]);
    const live: Context = { messages: [{ role: "user", content: "one", timestamp: 1 }] };
    await (await script.streamFn(model, live, {})).result();
    live.messages.push({ role: "user", content: "two", timestamp: 2 });
    await (await script.streamFn(model, live, { temperature: 0 })).result();
    expect(script.calls.map((call) => call.context.messages.length)).toEqual([1, 2]);
    expect(() => script.calls[0]?.context.messages.pop()).toThrow(TypeError);
    expect(script.calls[1]?.options).toEqual({ temperature: 0 });
  });

  it("answers a request too many with an error and fails assertDone", async () => {
    const script = createScript([reply("a")]);
    await (await script.streamFn(model, context, {})).result();
    const second = await (await script.streamFn(model, context, {})).result();
    expect(second).toMatchObject({
      stopReason: "error",
      errorMessage: expect.stringContaining("Unexpected request 2"),
    });
    expect(() => script.assertDone()).toThrow("Unexpected request 2");
  });

  it("complains about a step that was not used", () => {
    expect(() => createScript([reply("a")]).assertDone()).toThrow("0 of 1 steps");
  });

  it("asks a function step and reports its failure", async () => {
    const script = createScript((call, index) => {
      if (index === 1) throw new Error("no");
      return reply(`${call.context.messages.length} of request ${index}`);
    });
    const first = await (await script.streamFn(model, context, {})).result();
    expect(first.content).toEqual([text("1 of request 0")]);
    script.assertDone();
    expect((await (await script.streamFn(model, context, {})).result()).stopReason).toBe("error");
    expect(() => script.assertDone()).toThrow("request 2 threw: Error: no");
  });

  it("plays interleaved events as given", async () => {
    const done = { ...(await (await createScript([reply("ab", "cd")]).streamFn(model, context, {})).result()) };
    const script = createScript([
      {
        content: [],
        events: [
          { type: "text_start", contentIndex: 0 },
          { type: "text_start", contentIndex: 1 },
          { type: "text_delta", contentIndex: 1, delta: "cd" },
          { type: "text_delta", contentIndex: 0, delta: "ab" },
          { type: "done", reason: "stop", message: done },
        ],
      },
    ]);
    const events = await collect(await script.streamFn(model, context, {}));
    const before = events.at(-2);
    expect(before && "partial" in before && before.partial.content).toEqual([text("ab"), text("cd")]);
  });
});

describe("a fault", () => {
  const play = async (fault: ScriptFault, signal?: AbortSignal) => {
    const script = createScript([{ ...reply("abcd"), chunkSize: 1, fault }]);
    return script.streamFn(model, context, signal ? { signal } : {});
  };

  it("throw and reject fail before there is a stream", async () => {
    const script = createScript([{ ...reply(), fault: "throw" }]);
    expect(() => script.streamFn(model, context, {})).toThrow("threw");
    await expect(play("reject")).rejects.toThrow("rejected");
  });

  it("never_start and end_without_done end without a final message", async () => {
    const never = await play("never_start");
    expect(await collect(never)).toEqual([]);
    await expect(never.result()).rejects.toThrow("ended without a result");
    const events = await collect(await play("end_without_done"));
    expect(events.at(-1)?.type).toBe("text_end");
  });

  it("throw_midway throws after half of the events", async () => {
    const events: AssistantMessageEvent[] = [];
    const read = async () => {
      for await (const event of await play("throw_midway")) events.push(event);
    };
    await expect(read()).rejects.toThrow("the stream threw");
    expect(events).toHaveLength(4);
  });

  it.each(["hang", "hang_midway"] as const)("%s continues until the abort", async (fault) => {
    const abort = new AbortController();
    const stream = await play(fault, abort.signal);
    const events = collect(stream);
    await turn();
    abort.abort();
    expect((await events).at(-1)).toMatchObject({ type: "error", reason: "aborted" });
    expect((await stream.result()).content).toEqual(fault === "hang" ? [] : [text("ab")]);
  });

  it("a gate holds the answer and ignoreAbort plays on", async () => {
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const abort = new AbortController();
    const script = createScript([{ ...reply("late"), gate, ignoreAbort: true }]);
    const stream = await script.streamFn(model, context, { signal: abort.signal });
    abort.abort();
    open();
    expect((await stream.result()).content).toEqual([text("late")]);
  });

  it("an abort between deltas keeps what had arrived", async () => {
    const abort = new AbortController();
    const script = createScript([{ ...reply("abcdefgh"), chunkSize: 1 }]);
    const stream = await script.streamFn(model, context, { signal: abort.signal });
    for await (const event of stream) if (event.type === "text_delta" && event.delta === "b") abort.abort();
    const message = await stream.result();
    expect(message).toMatchObject({ stopReason: "aborted", errorKind: "aborted" });
    expect("abcdefgh".startsWith(message.content[0]?.type === "text" ? message.content[0].text : "?")).toBe(true);
    expect(message.content).not.toEqual([text("abcdefgh")]);
  });

  const ends: [string, ScriptFault | undefined][] = [
    ["done", undefined],
    ["a throw midway", "throw_midway"],
    ["no last event", "end_without_done"],
    ["no event", "never_start"],
    ["an abort", "hang_midway"],
  ];
  it.each(ends)("a request that ended with %s leaves no listener on the signal", async (_name, fault) => {
    const controller = new AbortController();
    const { signal } = controller;
    const script = createScript(() => ({ ...reply("hello"), ...(fault && { fault }) }));
    const stream = await script.streamFn(model, context, { signal });
    const over = collect(stream).catch(() => undefined);
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    await turn();
    if (fault === "hang_midway") controller.abort();
    await over;
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });
});
