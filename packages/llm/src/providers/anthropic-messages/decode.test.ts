import { readFile } from "node:fs/promises";
import { Readable } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AssistantMessageEvent } from "../../protocol/events.ts";
import type { AssistantMessage } from "../../protocol/message.ts";
import { AssistantAssembler, createAssistantStream } from "../../stream/assembler.ts";
import { ResponseBody } from "../../stream/response-body.ts";
import { scriptedModel } from "../../testing.ts";
import { runExchange } from "../exchange.ts";
import { wireToolName } from "../history/wire-names.ts";
import { MessagesDecoder } from "./decode.ts";

const cost = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
const model = scriptedModel({ api: "anthropic-messages", provider: "anthropic", id: "claude", cost });
const origin = { provider: "anthropic" };
const fixture = (name: string) => readFile(new URL(`./__fixtures__/${name}.sse`, import.meta.url));

async function decode(chunks: readonly Uint8Array[], tools: readonly string[] = []) {
  const stream = createAssistantStream();
  const assembler = new AssistantAssembler(model, stream);
  const declared = tools.map((name) => ({ name, description: "", parameters: {} }));
  const decoder = new MessagesDecoder({ assembler, origin, tools: declared });
  const waits = { firstByteMs: 0, idleMs: 0, host: "test" };
  const body = new ResponseBody(Readable.from(chunks, { objectMode: false }), waits);
  void runExchange({ send: async () => ({ status: 200, headers: {}, body }), decoder, assembler, origin });
  const events: AssistantMessageEvent[] = [];
  for await (const event of stream) events.push(event);
  return { events, message: await stream.result() };
}

/** The stream of these events. */
const sse = (...events: ({ type: string } & Record<string, unknown>)[]) => [
  Buffer.from(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("")),
];
const block = (index: number, content: unknown) => ({ type: "content_block_start", index, content_block: content });
const delta = (index: number, body: object) => ({ type: "content_block_delta", index, delta: body });
const ended = (reason: string | null, usage: object = {}) => ({
  type: "message_delta",
  delta: { stop_reason: reason },
  usage,
});
const start = { type: "message_start", message: { id: "msg_1", usage: { input_tokens: 10, output_tokens: 1 } } };
const stop = { type: "message_stop" };
const said = [block(0, { type: "text", text: "" }), delta(0, { type: "text_delta", text: "so far" })];
const withoutTime = ({ timestamp: _now, ...rest }: AssistantMessage) => rest;

describe("the Messages decoder", () => {
  it("reads text", async () => {
    const { message } = await decode([await fixture("text")]);
    expect(message).toMatchObject({
      ...{
        api: "anthropic-messages",
        provider: "anthropic",
        model: "claude",
        responseId: "msg_01XFDUDYJgAACzvnptvVoYEL",
      },
      ...{ content: [{ type: "text", text: "Grüß dich, 世界!" }], stopReason: "stop" },
      usage: { input: 25, output: 15, totalTokens: 40 },
    });
  });

  it("reads thinking with its signature, text and parallel calls", async () => {
    const { message } = await decode([await fixture("thinking-tools")], ["read"]);
    expect(message.content).toEqual([
      { type: "thinking", thinking: "Two files to read.", thinkingSignature: "EqQBCgIYAhIMGh9qlw==" },
      { type: "text", text: "I read both." },
      { type: "toolCall", id: "toolu_01A", name: "read", arguments: { path: "a.txt" } },
      { type: "toolCall", id: "toolu_01B", name: "read", arguments: { path: "b.txt", limit: 3 } },
    ]);
    expect(message.stopReason).toBe("toolUse");
  });

  it("R034 counts each token once", async () => {
    const { message } = await decode([await fixture("thinking-tools")]);
    expect(message.usage).toMatchObject({
      input: 1000,
      cacheRead: 9000,
      cacheWrite: 120,
      output: 500,
      totalTokens: 10_620,
    });
    expect(message.usage.cost.total).toBeCloseTo((3 * 1000 + 0.3 * 9000 + 3.75 * 120 + 15 * 500) / 1e6, 10);
    const late = ended("end_turn", { input_tokens: 1000, cache_read_input_tokens: 9000, output_tokens: 500 });
    const zeroFirst = { type: "message_start", message: { usage: { input_tokens: 0, output_tokens: 0 } } };
    expect((await decode(sse(zeroFirst, ...said, late, stop))).message.usage).toMatchObject({
      input: 1000,
      cacheRead: 9000,
    });
    expect(
      (await decode(sse(start, ...said, ended("end_turn", { input_tokens: 0, output_tokens: 7 }), stop))).message.usage,
    ).toMatchObject({
      ...{ input: 10, output: 7, cacheRead: 0 },
    });
  });

  it("S1 reads interleaved blocks", async () => {
    const { events, message } = await decode([await fixture("interleaved")], ["bash"]);
    expect(message.content).toEqual([
      { type: "text", text: "Running ls." },
      { type: "toolCall", id: "toolu_01C", name: "bash", arguments: { command: "ls" } },
    ]);
    expect(
      events
        .filter(({ type }) => type.endsWith("_start"))
        .map((event) => "contentIndex" in event && event.contentIndex),
    ).toEqual([0, 1]);
    expect(
      events.filter(({ type }) => type.endsWith("_end")).map((event) => "contentIndex" in event && event.contentIndex),
    ).toEqual([1, 0]);
  });

  it("keeps redacted thinking and thinking without text", async () => {
    const { message } = await decode([await fixture("redacted")]);
    expect(message.content).toEqual([
      { type: "thinking", thinking: "", thinkingSignature: "EmwKAhgBEgy3va3pzix", redacted: true },
      { type: "thinking", thinking: "", thinkingSignature: "EqQBempty" },
      { type: "text", text: "Done." },
    ]);
  });

  it("R026 gives a call without an id one, and takes calls without arguments and with cut ones", async () => {
    const { message } = await decode([await fixture("no-arguments")]);
    expect(message.content).toMatchObject([
      { id: "toolu_01D", name: "status", arguments: {} },
      { id: "toolu_01E", arguments: { path: "a" } },
      { id: expect.stringMatching(/^toolu_\w{10,}$/), arguments: {}, invalidArguments: { raw: '{"path":' } },
    ]);
    const twice = [
      block(0, { type: "tool_use", id: "x", name: "a" }),
      block(1, { type: "tool_use", id: "x", name: "a" }),
    ];
    const ids = (await decode(sse(start, ...twice, ended("tool_use"), stop))).message.content.map(
      (b) => "id" in b && b.id,
    );
    expect(new Set(ids).size).toBe(2);
    const { message: nulls } = await decode(
      sse(start, block(0, { type: "tool_use", id: null, name: null, input: null }), ended("tool_use"), stop),
    );
    expect(nulls.content).toMatchObject([{ id: expect.stringMatching(/./), name: "", arguments: {} }]);
  });

  it("R165 gives a call the own name of its tool back", async () => {
    const own = "a.b c/ü";
    const called = block(0, { type: "tool_use", id: "x", name: wireToolName(own), input: {} });
    expect((await decode(sse(start, called, ended("tool_use"), stop), [own])).message.content).toMatchObject([
      { name: own },
    ]);
  });

  it("passes over blocks and deltas that nobody knows", async () => {
    const { message } = await decode([await fixture("server-tool")]);
    expect(message.content).toEqual([{ type: "text", text: "Found." }]);
  });

  it("takes deltas of blocks that were never announced", async () => {
    const { message } = await decode(sse(delta(0, { type: "text_delta", text: "hi" }), ended(null), stop));
    expect(message).toMatchObject({ content: [{ text: "hi" }], stopReason: "stop" });
  });

  it.each([
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["pause_turn", "stop"],
    ["max_tokens", "length"],
    ["something_new", "stop"],
    [null, "stop"],
  ])("ends by %s as %s", async (reason, stopReason) => {
    expect((await decode(sse(start, ...said, ended(reason), stop))).message.stopReason).toBe(stopReason);
  });

  it.each([
    ["refusal", "content_filter"],
    ["sensitive", "content_filter"],
    ["model_context_window_exceeded", "overflow"],
  ])("fails by %s as %s and keeps what there is", async (reason, errorKind) => {
    const { message } = await decode(sse(start, ...said, ended(reason), stop));
    expect(message).toMatchObject({ stopReason: "error", errorKind, content: [{ text: "so far" }] });
  });

  it("takes a limit without any content for an overflow", async () => {
    expect((await decode(sse(start, ended("max_tokens"), stop))).message).toMatchObject({
      stopReason: "error",
      errorKind: "overflow",
    });
  });

  it("R019 an error inside the 200 stream is retryable and keeps what there is", async () => {
    const { message, events } = await decode([await fixture("overloaded")]);
    expect(message).toMatchObject({ stopReason: "error", errorKind: "retryable", content: [{ text: "I st" }] });
    expect(message.errorMessage).toContain("Overloaded");
    expect(events.at(-1)?.type).toBe("error");
  });

  it.each([
    [{ type: "error", error: { type: "rate_limit_error", message: "slow down" } }, "retryable"],
    [{ type: "error", error: { type: "authentication_error", message: "invalid x-api-key" } }, "auth"],
    [
      { type: "error", error: { type: "invalid_request_error", message: "prompt is too long: 2 tokens > 1 maximum" } },
      "overflow",
    ],
  ])("R019 %j is %s", async (error, errorKind) => {
    expect((await decode(sse(start, error))).message).toMatchObject({ stopReason: "error", errorKind });
    const unnamed = Buffer.from(`data: ${JSON.stringify(error)}\n\n`);
    expect((await decode([unnamed])).message).toMatchObject({ stopReason: "error", errorKind });
  });

  it("S4 an end without a stop reason is an error", async () => {
    for (const end of [[], [ended(null)]]) {
      const { message } = await decode(sse(start, ...said, ...end));
      expect(message).toMatchObject({ stopReason: "error", errorKind: "retryable", content: [{ text: "so far" }] });
    }
    expect((await decode([])).message).toMatchObject({ stopReason: "error" });
  });

  it("takes numbers of tokens as texts, and null as a keep-alive", async () => {
    const late = ended("end_turn", { input_tokens: "30", output_tokens: 1e308 });
    const nothing = Buffer.from("data: null\n\n");
    const { message } = await decode([nothing, ...sse(start, ...said, late, stop)]);
    expect(message).toMatchObject({ stopReason: "stop", usage: { input: 30, output: 1, totalTokens: 31 } });
  });

  it("R021 a damaged frame is an error with its first characters", async () => {
    const { message } = await decode([...sse(start, ...said), Buffer.from('data: {"type":"content_blo   \n\n')]);
    expect(message).toMatchObject({ stopReason: "error", errorKind: "retryable", content: [{ text: "so far" }] });
    expect(message.errorMessage).toContain('{"type":"content_blo');
  });

  it("reads a whole message from a server that does not stream", async () => {
    const content = [
      { type: "text", text: "hi" },
      { type: "tool_use", id: "a", name: "read", input: { path: "x" } },
    ];
    const value = {
      id: "m",
      type: "message",
      content,
      stop_reason: "tool_use",
      usage: { input_tokens: 1, output_tokens: 2 },
    };
    const { message } = await decode([Buffer.from(JSON.stringify(value))]);
    expect(message).toMatchObject({
      stopReason: "toolUse",
      content: [{ text: "hi" }, { id: "a", arguments: { path: "x" } }],
    });
    const failed = await decode([Buffer.from('{"type":"error","error":{"type":"overloaded_error","message":"busy"}}')]);
    expect(failed.message).toMatchObject({ stopReason: "error", errorKind: "retryable" });
  });

  it.each(["text", "thinking-tools", "interleaved", "redacted", "overloaded"])(
    "S4 %s gives the same message cut anywhere",
    async (name) => {
      const bytes = await fixture(name);
      const whole = withoutTime((await decode([bytes])).message);
      await fc.assert(
        fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 40 }), async (cuts) => {
          const places = [0, ...cuts.sort((a, b) => a - b), bytes.length];
          const chunks = places.slice(1).map((end, i) => bytes.subarray(places[i], end));
          const { message, events } = await decode(chunks.filter((chunk) => chunk.length > 0));
          expect(withoutTime(message)).toEqual(whole);
          expect(events.filter(({ type }) => type === "done" || type === "error")).toHaveLength(1);
        }),
        { numRuns: 40 },
      );
    },
  );

  it("S4 a stream cut at any byte ends with one error and what had arrived", async () => {
    const bytes = await fixture("thinking-tools");
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.indexOf("event: message_delta")), async (end) => {
        const { message, events } = await decode(end === 0 ? [] : [bytes.subarray(0, end)]);
        expect(message.stopReason).toBe("error");
        const starts = events.filter(({ type }) => type.endsWith("_start")).length;
        expect(events.filter(({ type }) => type.endsWith("_end"))).toHaveLength(starts);
      }),
      { numRuns: 60 },
    );
  });
});
