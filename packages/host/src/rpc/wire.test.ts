import { PassThrough, Writable } from "node:stream";
import type { AssistantMessage } from "@tau/llm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SessionEvent } from "../session/events/session-event.ts";
import { LineOutput } from "./line-output.ts";
import { encodeLine, toWire } from "./wire-event.ts";
import { WireFeed } from "./wire-feed.ts";

const usage = {
  input: 1,
  output: 2,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 3,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

const assistant = (text: string, more: Partial<AssistantMessage> = {}): AssistantMessage => ({
  role: "assistant",
  content: [{ type: "text", text }],
  api: "a",
  provider: "p",
  model: "m",
  usage,
  stopReason: "stop",
  timestamp: 1,
  ...more,
});

describe("encodeLine", () => {
  it("R174 gives one line whatever is in the text, and the same text back", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const line = encodeLine({ type: "x", text: `${text}\u2028\u2029\u0085\r\0\n` });
        expect(line.slice(0, -1)).not.toMatch(/[\n\r\u2028\u2029\u0085\0]/);
        expect(JSON.parse(line).text).toBe(`${text}\u2028\u2029\u0085\r\0\n`);
      }),
    );
  });
});

describe("toWire", () => {
  it("leaves out what grows with the message", () => {
    const message = assistant("long");
    const update = (event: object) =>
      toWire({ type: "message_update", message, assistantMessageEvent: event } as SessionEvent);
    expect(update({ type: "text_delta", contentIndex: 0, delta: "x", partial: message })).toEqual({
      type: "message_update",
      usage,
      assistantMessageEvent: { type: "text_delta", contentIndex: 0, delta: "x" },
    });
    expect(
      update({ type: "toolcall_start", contentIndex: 0, id: "1", name: "bash", partial: message })
        .assistantMessageEvent,
    ).toEqual({
      type: "toolcall_start",
      contentIndex: 0,
      id: "1",
      name: "bash",
      toolName: "bash",
    });
  });
});

describe("LineOutput", () => {
  it("keeps order and makes the writer wait for a slow reader", async () => {
    const stream = new PassThrough({ highWaterMark: 10 });
    const output = new LineOutput(stream);
    const waiting = output.write("0123456789\n");
    expect(waiting).toBeInstanceOf(Promise);
    const second = output.write("second\n");
    expect(String(stream.read())).toBe("0123456789\nsecond\n");
    await Promise.all([waiting, second]);
    await output.flush();
  });

  it("R160 lets everyone continue when the reader is gone", async () => {
    let told = 0;
    const stream = new Writable({
      highWaterMark: 1,
      write: (_chunk, _encoding, done) => void setTimeout(() => done(new Error("EPIPE")), 0),
    });
    const output = new LineOutput(stream, () => told++);
    await output.write("x\n");
    expect(output.closed).toBe(true);
    expect(output.write("y\n")).toBe(undefined);
    await output.flush();
    expect(told).toBe(1);
  });
});

describe("WireFeed", () => {
  const end: SessionEvent = { type: "agent_end", messages: [] };
  const phase: SessionEvent = { type: "phase", from: "turn_complete", to: "idle" };
  const settled: SessionEvent = { type: "agent_settled", aborted: false };
  const retry: SessionEvent = {
    type: "auto_retry_start",
    attempt: 1,
    maxAttempts: 3,
    delayMs: 1,
    errorMessage: "busy",
  };

  it.each<[string, SessionEvent, boolean]>([
    ["a retry", retry, true],
    ["another model", { type: "model_fallback", from: "a/a", to: "b/b", reason: "busy" }, true],
    ["a compaction for an overflow", { type: "compaction_start", reason: "overflow" }, true],
    ["a compaction in good time", { type: "compaction_start", reason: "threshold" }, false],
    ["a queued message", { type: "agent_start" }, false],
    ["nothing", settled, false],
  ])(
    "says with agent_end whether the request is made again, when %s follows, and keeps the order",
    (_name, next, willRetry) => {
      const written: object[] = [];
      const feed = new WireFeed((record) => void written.push(record));
      for (const event of [phase, end, phase, next, phase]) feed.event(event);
      expect(written).toEqual([phase, { ...end, willRetry }, phase, next, phase]);
    },
  );

  it("writes a record that is not an event behind what was held back", () => {
    const written: object[] = [];
    const feed = new WireFeed((record) => void written.push(record));
    feed.event(end);
    feed.record({ type: "error" });
    feed.event(settled);
    expect(written).toEqual([{ ...end, willRetry: false }, { type: "error" }, settled]);
  });
});
