import { readdirSync, readFileSync } from "node:fs";
import { Readable } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AssistantMessageEvent } from "../../protocol/events.ts";
import type { AssistantMessage } from "../../protocol/message.ts";
import type { Model } from "../../protocol/model.ts";
import type { Tool } from "../../protocol/tool.ts";
import { AssistantAssembler, createAssistantStream } from "../../stream/assembler.ts";
import { ResponseBody } from "../../stream/response-body.ts";
import { runExchange } from "../exchange.ts";
import { CompletionsDecoder } from "./decode.ts";

const MODEL: Model = {
  id: "m",
  name: "M",
  api: "openai-completions",
  provider: "vendor",
  baseUrl: "http://127.0.0.1/v1",
  reasoning: true,
  input: ["text"],
  cost: { input: 1, output: 10, cacheRead: 0.1, cacheWrite: 1.25 },
  contextWindow: 100_000,
  maxTokens: 1000,
};

interface DecodeOptions {
  cuts?: readonly number[];
  finishReason?: boolean;
  tools?: readonly Tool[];
}

async function decode(body: string, options: DecodeOptions = {}) {
  const bytes = Buffer.from(body);
  const at = [0, ...(options.cuts ?? []).map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
  const source = Readable.from(chunks.filter((chunk) => chunk.length > 0));
  const stream = createAssistantStream();
  const assembler = new AssistantAssembler(MODEL, stream);
  const origin = { provider: "vendor" };
  const decoder = new CompletionsDecoder({ assembler, origin, tools: options.tools ?? [], ...finish(options) });
  const response = {
    status: 200,
    headers: {},
    body: new ResponseBody(source, { firstByteMs: 0, idleMs: 0, host: "test" }),
  };
  const events: AssistantMessageEvent[] = [];
  const reading = (async () => {
    for await (const event of stream) events.push(event);
  })();
  await runExchange({ send: async () => response, decoder, assembler, origin });
  await reading;
  return { events, message: await stream.result() };
}

const finish = ({ finishReason }: DecodeOptions) => (finishReason === undefined ? {} : { finishReason });

const sse = (...frames: unknown[]) =>
  frames.map((frame) => `data: ${typeof frame === "string" ? frame : JSON.stringify(frame)}\n\n`).join("");
const delta = (piece: unknown, finish_reason: string | null = null) => ({
  id: "c1",
  choices: [{ index: 0, delta: piece, finish_reason }],
});
const calls = (...tool_calls: unknown[]) => delta({ tool_calls });
const fn = (name?: string, args?: string) => ({ function: { name, arguments: args } });
const STOP = delta({}, "stop");
const CALLED = delta({}, "tool_calls");
const WHOLE_MESSAGE = { choices: [{ index: 0, message: { role: "assistant", content: "ab" }, finish_reason: "stop" }] };

/** What a message says, without what changes from run to run. */
function said({ content, stopReason, usage, errorMessage, responseId }: AssistantMessage) {
  const { cost: _cost, ...tokens } = usage;
  return {
    content,
    stopReason,
    tokens,
    ...(errorMessage ? { errorMessage } : {}),
    ...(responseId ? { responseId } : {}),
  };
}

const folder = new URL("./__fixtures__/", import.meta.url);
const fixture = (name: string) => readFileSync(new URL(`${name}.sse`, folder), "utf8");
const call = (id: string, name: string, args: Record<string, unknown>) => ({
  type: "toolCall",
  id,
  name,
  arguments: args,
});
const tokens = (input: number, output: number, cacheRead = 0, cacheWrite = 0) => ({
  input,
  output,
  cacheRead,
  cacheWrite,
  totalTokens: input + output + cacheRead + cacheWrite,
});
const thought = (thinking: string, thinkingSignature: string) => ({ type: "thinking", thinking, thinkingSignature });

const EXPECTED: Record<string, { content: unknown[]; stopReason: string; tokens?: object }> = {
  "openai-text": {
    content: [{ type: "text", text: "Hello, wörld 👋" }],
    stopReason: "stop",
    tokens: tokens(1000, 500, 9000),
  },
  "openai-parallel-tools": {
    content: [call("call_a1", "read", { path: "a.txt" }), call("call_b2", "bash", { command: "ls" })],
    stopReason: "toolUse",
    tokens: tokens(100, 20),
  },
  "openrouter-reasoning-details": {
    content: [
      thought(
        "Let me look.",
        '{"type":"reasoning.text","format":"anthropic-claude-v1","index":0,"signature":"EqQBCkYIARgC"}',
      ),
      { type: "text", text: "I look." },
      call("toolu_01", "read", { path: "a" }),
    ],
    stopReason: "toolUse",
    tokens: tokens(50, 80, 1000, 150),
  },
  "openrouter-encrypted": {
    content: [
      thought("**Plan**", '{"type":"reasoning.summary","format":"openai-responses-v1","index":0}'),
      {
        ...thought(
          "",
          '{"type":"reasoning.encrypted","data":"gAAAAABo","id":"rs_1","format":"openai-responses-v1","index":0}',
        ),
        redacted: true,
      },
      { type: "text", text: "ok" },
    ],
    stopReason: "stop",
  },
  "deepseek-reasoning": {
    content: [thought("First think", "reasoning_content"), { type: "text", text: "Answer" }],
    stopReason: "stop",
    tokens: tokens(36, 50, 64),
  },
  groq: {
    content: [thought("Hm.", "reasoning"), call("fc_1", "ls", { path: "." })],
    stopReason: "toolUse",
    tokens: tokens(30, 12),
  },
  "llama-cpp": {
    content: [thought("Okay", "reasoning_content"), call("vNQ3Hn", "bash", { command: "pwd" })],
    stopReason: "toolUse",
    tokens: tokens(60, 9, 40),
  },
  ollama: {
    content: [call("call_x", "read", { path: "a" }), call("call_y", "read", { path: "b" })],
    stopReason: "toolUse",
    tokens: tokens(26, 7),
  },
  vllm: {
    content: [
      thought("Think", "reasoning_content"),
      { type: "text", text: "\n\nHi" },
      call("chatcmpl-tool-1", "read", { path: "x" }),
    ],
    stopReason: "toolUse",
    tokens: tokens(50, 10),
  },
  mistral: {
    content: [
      thought("Wait, yes", "content.thinking"),
      { type: "text", text: "Right." },
      call("D681PevKs", "ls", { path: "." }),
    ],
    stopReason: "toolUse",
    tokens: tokens(20, 10),
  },
  "lm-studio": {
    content: [{ type: "text", text: "Look: " }, call("365174485", "read", { path: "a" })],
    stopReason: "toolUse",
  },
  "legacy-function-call": {
    content: [{ ...call("", "read", { path: "a" }), id: expect.stringMatching(/^call_\w{20}$/) }],
    stopReason: "toolUse",
  },
  gemini: {
    content: [{ ...call("function-call-1", "ls", {}), thoughtSignature: "CpYC" }],
    stopReason: "toolUse",
  },
  xai: {
    content: [thought("Hm", "reasoning_content"), { type: "text", text: "Yes" }],
    stopReason: "stop",
    tokens: tokens(80, 305, 20),
  },
};

describe("recorded answers", () => {
  const names = readdirSync(folder).map((file) => file.replace(".sse", ""));

  it.each(names)("%s", async (name) => {
    const { message } = await decode(fixture(name));
    const expected = EXPECTED[name];
    expect(said(message)).toMatchObject({ content: expected?.content, stopReason: expected?.stopReason });
    if (expected?.tokens) expect(said(message).tokens).toEqual(expected.tokens);
  });

  it("S1 the answer is the same however the bytes are cut", async () => {
    for (const name of names) {
      const whole = said((await decode(fixture(name))).message);
      const stable = JSON.stringify(whole).replace(/call_\w{20}/g, "call_");
      await fc.assert(
        fc.asyncProperty(fc.array(fc.nat(5000), { maxLength: 60 }), async (cuts) => {
          const cut = said((await decode(fixture(name), { cuts })).message);
          expect(JSON.stringify(cut).replace(/call_\w{20}/g, "call_")).toBe(stable);
        }),
        { numRuns: 15 },
      );
    }
  });

  it("S4 an answer that is cut anywhere is an error with what had come, or whole", async () => {
    const body = fixture("openai-parallel-tools");
    for (let end = 0; end < body.length; end += 7) {
      const { message } = await decode(body.slice(0, end));
      expect([end, message.stopReason]).toEqual([end, expect.stringMatching(/^(error|toolUse)$/)]);
      if (message.stopReason === "error") expect(message.errorKind).toBe("retryable");
    }
  });
});

describe("tool calls", () => {
  const contentOf = async (...frames: unknown[]) => (await decode(sse(...frames, CALLED, "[DONE]"))).message.content;

  it("R026 an id that never comes, is empty or null becomes one of ours, the same in all events", async () => {
    for (const id of [undefined, null, ""]) {
      const { events, message } = await decode(
        sse(calls({ index: 0, id, ...fn("read", '{"a"') }), calls({ index: 0, id, ...fn(undefined, ":1}") }), CALLED),
      );
      const [block] = message.content;
      expect(block).toMatchObject({ type: "toolCall", name: "read", arguments: { a: 1 } });
      const start = events.find((event) => event.type === "toolcall_start");
      expect(start?.type === "toolcall_start" && start.id).toMatch(/^call_\w{20}$/);
      expect(start).toMatchObject({ id: block?.type === "toolCall" ? block.id : "" });
    }
  });

  it("R026 an id that comes late is taken when nothing was shown yet", async () => {
    const content = await contentOf(
      calls({ index: 0, ...fn("read", "") }),
      calls({ index: 0, id: "late", ...fn(undefined, '{"a":1}') }),
    );
    expect(content).toEqual([call("late", "read", { a: 1 })]);
  });

  it("R026 two calls with one id become two ids", async () => {
    const content = await contentOf(
      calls({ index: 0, id: "x", ...fn("read", "{}") }, { index: 1, id: "x", ...fn("read", "{}") }),
    );
    const ids = content.map((block) => block.type === "toolCall" && block.id);
    expect(new Set(ids).size).toBe(2);
    expect(ids[0]).toBe("x");
  });

  it.each<[string, unknown[]]>([
    [
      "interleaved",
      [
        calls({ index: 0, id: "a", ...fn("read", '{"n"') }, { index: 1, id: "b", ...fn("ls", '{"n"') }),
        calls({ index: 1, ...fn(undefined, ":2}") }, { index: 0, ...fn(undefined, ":1}") }),
      ],
    ],
    [
      "without an index, pieces after each other",
      [
        calls({ id: "a", ...fn("read", '{"n"') }),
        calls({ ...fn(undefined, ":1}") }),
        calls({ id: "b", ...fn("ls", '{"n":2}') }),
      ],
    ],
    [
      "without an index, by their ids",
      [
        calls({ id: "a", ...fn("read", '{"n"') }),
        calls({ id: "b", ...fn("ls", '{"n"') }),
        calls({ id: "a", ...fn("", ":1}") }, { id: "b", ...fn("", ":2}") }),
      ],
    ],
    [
      "all with index 0",
      [calls({ index: 0, id: "a", ...fn("read", '{"n":1}') }), calls({ index: 0, id: "b", ...fn("ls", '{"n":2}') })],
    ],
    [
      "with the name in pieces",
      [
        calls({ index: 0, id: "a", ...fn("re") }),
        calls({ index: 0, ...fn("ad") }),
        calls({ index: 0, ...fn(undefined, '{"n":1}') }),
        calls({ index: 1, id: "b", ...fn("ls", '{"n":2}') }),
      ],
    ],
    [
      "with name and id on every piece",
      [
        calls({ index: 0, id: "a", ...fn("read", '{"n"') }),
        calls({ index: 0, id: "a", ...fn("read", ":1}") }),
        calls({ index: 1, id: "b", ...fn("ls", '{"n"') }),
        calls({ index: 1, id: "b2", ...fn("ls", ":2}") }),
      ],
    ],
    [
      "with the name last",
      [
        calls({ index: 0, id: "a", ...fn(undefined, '{"n":1}') }),
        calls({ index: 0, ...fn("read") }),
        calls({ index: 1, id: "b", ...fn("ls", '{"n":2}') }),
      ],
    ],
    [
      "with arguments as an object",
      [
        calls({ index: 0, id: "a", function: { name: "read", arguments: { n: 1 } } }),
        calls({ index: 1, id: "b", function: { name: "ls", arguments: { n: 2 } } }),
      ],
    ],
  ])("R026 %s: each piece finds its call", async (_title, frames) => {
    expect(await contentOf(...frames)).toEqual([call("a", "read", { n: 1 }), call("b", "ls", { n: 2 })]);
  });

  it("without index and id, a name begins the next call", async () => {
    const content = await contentOf(
      calls({ ...fn("read", '{"n":1}') }),
      calls({ ...fn("ls", '{"n":2}') }, { ...fn("ls", '{"n":3}') }),
    );
    expect(content).toMatchObject([
      { name: "read", arguments: { n: 1 } },
      { name: "ls", arguments: { n: 2 } },
      { name: "ls", arguments: { n: 3 } },
    ]);
  });

  it("R026 with one index for all and no ids, a name behind whole arguments begins the next call", async () => {
    const one = { index: 0, ...fn("read", '{"n":1}') };
    const content = await contentOf(
      calls(one),
      calls({ index: 0, ...fn("read") }),
      calls({ index: 0, ...fn("read", '{"n":2}') }),
      calls({ index: 0, ...fn("ls") }),
      calls({ index: 0, ...fn(undefined, '{"n":3}') }),
    );
    expect(content).toMatchObject([
      { name: "read", arguments: { n: 1 } },
      { name: "read", arguments: { n: 2 } },
      { name: "ls", arguments: { n: 3 } },
    ]);
    const late = await contentOf(calls(one), calls({ index: 0, id: "late", ...fn("read", "") }));
    expect(late).toMatchObject([{ name: "read", arguments: { n: 1 } }]);
  });

  it("R025 a call without arguments is a call with none, in its place", async () => {
    const content = await contentOf(
      calls({ index: 0, id: "a", ...fn("status", "") }),
      calls({ index: 1, id: "b", ...fn("ls", '{"n":2}') }),
      delta({ content: "done" }),
    );
    expect(content).toEqual([call("a", "status", {}), call("b", "ls", { n: 2 }), { type: "text", text: "done" }]);
  });

  it.each(["[]", '"str"', '{"path":"a.txt"', '{"a":1} trailing', '{"a":"x\u0000y"}'])(
    "R024 R039 arguments %j are kept as invalid",
    async (args) => {
      const [block] = await contentOf(calls({ index: 0, id: "a", ...fn("read", args) }));
      expect(block).toMatchObject({ ...call("a", "read", {}), invalidArguments: { raw: args } });
    },
  );

  it("R024 a doubly encoded object is decoded", async () => {
    const args = JSON.stringify(JSON.stringify({ path: "a" }));
    expect(await contentOf(calls({ index: 0, id: "a", ...fn("read", args) }))).toEqual([
      call("a", "read", { path: "a" }),
    ]);
  });

  it("a call cut off by the limit keeps its place and its text", async () => {
    const { message } = await decode(
      sse(
        calls({ index: 0, id: "a", ...fn("read", '{"n":1}') }),
        calls({ index: 1, id: "b", ...fn("write", '{"path":"x","content":"AAAA') }),
        delta({}, "length"),
      ),
    );
    expect(message.stopReason).toBe("length");
    expect(message.content).toMatchObject([
      call("a", "read", { n: 1 }),
      { ...call("b", "write", {}), invalidArguments: { raw: '{"path":"x","content":"AAAA' } },
    ]);
  });

  it("R015 a call without a name is a call all the same", async () => {
    expect(await contentOf(calls({ index: 0, id: "a", ...fn(undefined, "{}") }))).toEqual([call("a", "", {})]);
  });

  it("R165 a name of the wire is shown as the tool's own", async () => {
    const tools = [{ name: "a.b c", description: "", parameters: {} }];
    const { wireToolName } = await import("../history/wire-names.ts");
    const body = sse(calls({ index: 0, id: "a", ...fn(wireToolName("a.b c"), "{}") }), CALLED);
    expect((await decode(body, { tools })).message.content).toEqual([call("a", "a.b c", {})]);
  });
});

describe("reasoning", () => {
  it("R040 20,000 details of one index are one block of the size of its text", async () => {
    const detail = (text: string) =>
      delta({ reasoning_details: [{ type: "reasoning.text", text, index: 0, format: "x" }] });
    const frames = Array.from({ length: 20_000 }, (_, index) => detail(`${index % 10} `));
    const { message } = await decode(sse(...frames, delta({ content: "ok" }), STOP));
    expect(message.content).toHaveLength(2);
    expect(JSON.stringify(message).length).toBeLessThan(40_000 + 1000);
    expect(message.content[0]).toMatchObject({
      thinkingSignature: '{"type":"reasoning.text","index":0,"format":"x"}',
    });
  });

  it("takes one of two fields that say the same", async () => {
    const { message } = await decode(
      sse(delta({ reasoning: "a", reasoning_content: "a" }), delta({ content: "b" }), STOP),
    );
    expect(message.content[0]).toMatchObject({ thinking: "a" });
  });

  it("a signature that comes after the answer began still reaches its block", async () => {
    const detail = (more: object) => ({ type: "reasoning.text", index: 0, ...more });
    const { message } = await decode(
      sse(
        delta({ reasoning_details: [detail({ text: "hm" })] }),
        delta({ content: "a" }),
        delta({ content: "b", reasoning_details: [detail({ signature: "sig" })] }),
        STOP,
      ),
    );
    expect(message.content).toEqual([
      thought("hm", '{"type":"reasoning.text","index":0,"signature":"sig"}'),
      { type: "text", text: "ab" },
    ]);
  });
});

describe("text", () => {
  it.each([
    ["a list of texts", [delta({ content: ["a", { type: "text", text: "b" }, null] }), STOP]],
    ["a single part", [delta({ content: { type: "text", text: "ab" } }), STOP]],
    ["null as a keep-alive", ["null", delta({ content: "ab" }), "null", STOP]],
    ["the whole message once more at its end", [delta({ content: "ab" }), WHOLE_MESSAGE]],
  ])("is read from %s", async (_title, frames) => {
    expect((await decode(sse(...frames, "[DONE]"))).message.content).toEqual([{ type: "text", text: "ab" }]);
  });
});

describe("usage", () => {
  it("R033 numbers may come as texts; what is not a sensible count is none", async () => {
    const usage = { prompt_tokens: "100", completion_tokens: "20", prompt_tokens_details: { cached_tokens: 1e308 } };
    const { message } = await decode(sse(delta({ content: "a" }, "stop"), { choices: [], usage }, "[DONE]"));
    expect(message.usage).toMatchObject({ input: 100, output: 20, cacheRead: 0, totalTokens: 120 });
  });

  it("R034 cached tokens are not counted twice and reasoning not billed twice", async () => {
    const { message } = await decode(fixture("openai-text"));
    expect(message.usage).toMatchObject({ input: 1000, cacheRead: 9000, output: 500, totalTokens: 10_500 });
    expect(message.usage.cost.total).toBeCloseTo((1000 * 1 + 9000 * 0.1 + 500 * 10) / 1e6, 12);
  });

  it("R033 is found in a chunk after the end, in the last choice, or not at all", async () => {
    const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
    const after = await decode(sse(delta({ content: "a" }), STOP, { choices: [], usage }, "[DONE]"));
    const within = await decode(
      sse(delta({ content: "a" }), { choices: [{ index: 0, delta: {}, finish_reason: "stop", usage }] }),
    );
    const absent = await decode(sse(delta({ content: "a" }), STOP, { choices: null, usage: null }, "[DONE]"));
    expect([after, within, absent].map(({ message }) => message.usage.totalTokens)).toEqual([10, 10, 0]);
    expect(Number.isNaN(absent.message.usage.cost.total)).toBe(false);
  });
});

describe("ends", () => {
  it.each<[string, string, string | undefined]>([
    ["stop", "stop", undefined],
    ["length", "length", undefined],
    ["eos", "stop", undefined],
    ["something_new", "stop", undefined],
    ["content_filter", "error", "content_filter"],
    ["error", "error", "retryable"],
    ["insufficient_system_resource", "error", "retryable"],
    ["model_context_window_exceeded", "error", "overflow"],
  ])("finish reason %s", async (reason, stopReason, errorKind) => {
    const { message } = await decode(sse(delta({ content: "a" }), delta({}, reason), "[DONE]"));
    expect([message.stopReason, message.errorKind]).toEqual([stopReason, errorKind]);
    expect(message.content).toEqual([{ type: "text", text: "a" }]);
  });

  it("C1 calls count, whatever the finish reason says", async () => {
    const { message } = await decode(sse(calls({ index: 0, id: "a", ...fn("ls", "{}") }), STOP));
    expect(message.stopReason).toBe("toolUse");
  });

  it("S4 no finish reason and no [DONE] is an error that keeps what came", async () => {
    const { message } = await decode(sse(delta({ content: "half" })));
    expect(message).toMatchObject({ stopReason: "error", errorKind: "retryable", content: [{ text: "half" }] });
    expect(message.errorMessage).toMatch(/ended before/);
  });

  it("S4 an empty body, and a [DONE] alone, are errors", async () => {
    for (const body of ["", "\n\n", ": comment\n\n", sse("[DONE]")]) {
      expect((await decode(body)).message).toMatchObject({ stopReason: "error", errorKind: "retryable" });
    }
  });

  it("servers without finish reasons are believed: by [DONE], or by compat at the end of the body", async () => {
    expect((await decode(sse(delta({ content: "a" }), "[DONE]"))).message.stopReason).toBe("stop");
    const silent = await decode(sse(calls({ index: 0, id: "a", ...fn("ls", "{}") })), { finishReason: false });
    expect(silent.message.stopReason).toBe("toolUse");
  });

  it("R116 a limit without a single token is an overflow, one with thoughts is not", async () => {
    const usage = { prompt_tokens: 4096, completion_tokens: 0, total_tokens: 4096 };
    const full = await decode(
      sse(delta({ role: "assistant", content: "" }), delta({}, "length"), { choices: [], usage }, "[DONE]"),
    );
    expect(full.message).toMatchObject({ stopReason: "error", errorKind: "overflow" });
    const thinking = await decode(sse(delta({ reasoning_content: "hm" }), delta({}, "length")));
    expect(thinking.message.stopReason).toBe("length");
    const hidden = { prompt_tokens: 40, completion_tokens: 900, total_tokens: 940 };
    const silent = await decode(sse(delta({}, "length"), { choices: [], usage: hidden }, "[DONE]"));
    expect(silent.message.stopReason).toBe("length");
  });
});

describe("errors inside a 200", () => {
  it.each<[string, unknown, string]>([
    ["an error object", { error: { message: "Overloaded", type: "overloaded_error" } }, "retryable"],
    ["a string", { error: "model crashed" }, "retryable"],
    [
      "with choices",
      { error: { code: 429, message: "Rate limit" }, choices: [delta({}, "error").choices[0]] },
      "retryable",
    ],
    ["vLLM's", { object: "error", message: "maximum context length is 10 tokens", code: 400 }, "overflow"],
    ["an overflow", { error: { code: "context_length_exceeded", message: "too long" } }, "overflow"],
    ["a quota", { error: { code: "insufficient_quota", message: "You exceeded your current quota" } }, "quota"],
  ])("R019 %s ends the answer as an error of its kind", async (_title, frame, errorKind) => {
    const { message, events } = await decode(
      sse(delta({ content: "half" }), frame, delta({ content: "more" }), "[DONE]"),
    );
    expect(message).toMatchObject({ stopReason: "error", errorKind, content: [{ type: "text", text: "half" }] });
    expect(events.filter(({ type }) => type === "error")).toHaveLength(1);
  });

  it("R019 as an event named error, with any data", async () => {
    const body = `${sse(delta({ content: "a" }))}event: error\ndata: upstream timed out\n\n`;
    expect((await decode(body)).message).toMatchObject({ errorKind: "retryable", errorMessage: "upstream timed out" });
  });

  it("R021 a damaged frame is a retryable error that shows its start, and is not part of the answer", async () => {
    for (const bad of ['{"choices":[{"delta":{"content":"hel     ', '{"choices":[{"delta":{"content":"a\nb"}}]}']) {
      const { message } = await decode(`${sse(delta({ content: "ok" }))}data: ${bad}\n\n${sse(STOP, "[DONE]")}`);
      expect(message).toMatchObject({ stopReason: "error", errorKind: "retryable", content: [{ text: "ok" }] });
      expect(message.errorMessage).toContain('damaged frame: {"choices":[{"delta":{"content":"');
    }
  });
});

describe("a server that does not stream", () => {
  it("answers with one JSON value", async () => {
    const { message, events } = await decode(
      JSON.stringify({
        id: "c1",
        choices: [
          {
            index: 0,
            finish_reason: "tool_calls",
            message: {
              role: "assistant",
              content: "Look",
              reasoning_content: "hm",
              tool_calls: [
                { id: "a", type: "function", function: { name: "read", arguments: '{"n":1}' } },
                { id: "b", type: "function", function: { name: "ls", arguments: "{}" } },
              ],
            },
          },
        ],
        usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
      }),
    );
    expect(said(message)).toEqual({
      content: [
        thought("hm", "reasoning_content"),
        { type: "text", text: "Look" },
        call("a", "read", { n: 1 }),
        call("b", "ls", {}),
      ],
      stopReason: "toolUse",
      tokens: tokens(5, 2),
      responseId: "c1",
    });
    expect(events.at(-1)?.type).toBe("done");
  });

  it("or with an error, or with a web page", async () => {
    expect((await decode('{"error":{"message":"Overloaded"}}')).message.errorKind).toBe("retryable");
    const page = await decode("<!doctype html><html><title>Log in</title></html>");
    expect(page.message).toMatchObject({
      errorKind: "invalid_request",
      errorMessage: expect.stringContaining("baseUrl"),
    });
  });
});
