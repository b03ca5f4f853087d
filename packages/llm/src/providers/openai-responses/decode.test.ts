import { readdirSync, readFileSync } from "node:fs";
import { Readable } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AssistantMessageEvent } from "../../protocol/events.ts";
import type { AssistantMessage } from "../../protocol/message.ts";
import type { Tool } from "../../protocol/tool.ts";
import { scriptedModel } from "../../scripted/script.ts";
import { AssistantAssembler, createAssistantStream } from "../../stream/assembler.ts";
import { ResponseBody } from "../../stream/response-body.ts";
import { runExchange } from "../exchange.ts";
import { ResponsesDecoder } from "./decode.ts";

const MODEL = scriptedModel({ id: "m", api: "openai-responses", provider: "vendor", reasoning: true });

async function decode(body: string, { cuts = [], tools = [] }: { cuts?: readonly number[]; tools?: Tool[] } = {}) {
  const bytes = Buffer.from(body);
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
  const source = Readable.from(chunks.filter((chunk) => chunk.length > 0));
  const stream = createAssistantStream();
  const assembler = new AssistantAssembler(MODEL, stream);
  const origin = { provider: "vendor" };
  const decoder = new ResponsesDecoder({ assembler, origin, tools });
  const limits = { firstByteMs: 0, idleMs: 0, host: "test" };
  const response = { status: 200, headers: {}, body: new ResponseBody(source, limits) };
  const events: AssistantMessageEvent[] = [];
  const reading = (async () => {
    for await (const event of stream) events.push(event);
  })();
  await runExchange({ send: async () => response, decoder, assembler, origin });
  await reading;
  return { events, message: await stream.result() };
}

type Json = Record<string, unknown>;
const sse = (...events: Json[]) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
const added = (item: Json, output_index?: number) => ({ type: "response.output_item.added", output_index, item });
const done = (item: Json, output_index?: number) => ({ type: "response.output_item.done", output_index, item });
const textDelta = (delta: string, more: Json = {}) => ({ type: "response.output_text.delta", delta, ...more });
const args = (delta: string, more: Json = {}) => ({ type: "response.function_call_arguments.delta", delta, ...more });
const completed = (output?: unknown, more: Json = {}) => ({
  type: "response.completed",
  response: { id: "r", status: "completed", output, ...more },
});
const fn = (name: string, more: Json = {}) => ({ type: "function_call", name, ...more });

const folder = new URL("./__fixtures__/", import.meta.url);
const fixture = (name: string) => readFileSync(new URL(`${name}.sse`, folder), "utf8");
const text = (value: string, mark?: Json) => ({
  ...{ type: "text", text: value },
  ...(mark ? { textSignature: JSON.stringify({ v: 1, ...mark }) } : {}),
});
const thought = (thinking: string, item: Json) => ({
  ...{ type: "thinking", thinking },
  thinkingSignature: JSON.stringify(item),
});
const call = (id: unknown, name: string, args: Json) => ({ type: "toolCall", id, name, arguments: args });
const tokens = (input: number, output: number, cacheRead = 0) => ({
  ...{ input, output, cacheRead, cacheWrite: 0, totalTokens: input + output + cacheRead },
});

function said({ content, stopReason, usage, errorMessage, errorKind }: AssistantMessage) {
  const { cost: _cost, ...counts } = usage;
  const failure = errorMessage ? { errorMessage, errorKind } : {};
  return { content, stopReason, ...(counts.totalTokens > 0 ? { tokens: counts } : {}), ...failure };
}

const CUT = { error: expect.stringContaining("before the arguments of this call were whole") };

const EXPECTED: Record<string, unknown> = {
  "openai-text": {
    content: [text("Hello, wörld 👋", { id: "msg_01", phase: "final_answer" })],
    ...{ stopReason: "stop", tokens: tokens(1000, 500, 9000) },
  },
  "openai-reasoning-tools": {
    content: [
      {
        type: "thinking",
        thinking: "**Looking**\n\nI read the files.\n\n**Next**\n\nI run the tests.",
        thinkingSignature: expect.stringContaining('"encrypted_content":"gAAAAABwhole"'),
      },
      text("I look.", { id: "msg_02", phase: "commentary" }),
      call("call_a", "read", { path: "a.txt" }),
      call("call_b", "bash", { command: "ls" }),
    ],
    ...{ stopReason: "toolUse", tokens: tokens(100, 80) },
  },
  "openai-refusal": {
    content: [text("I can't help with that.", { id: "msg_03" })],
    ...{ stopReason: "stop", tokens: tokens(20, 8) },
  },
  "openai-incomplete": {
    content: [
      { ...call("call_4", "write", {}), invalidArguments: { raw: expect.any(String), error: expect.any(String) } },
    ],
    ...{ stopReason: "length", tokens: tokens(50, 16) },
  },
  "openai-content-filter": {
    content: [text("Well, ", { id: "msg_05" })],
    ...{ stopReason: "error", tokens: tokens(50, 2), errorKind: "content_filter", errorMessage: expect.any(String) },
  },
  "openai-failed": {
    content: [text("Let me", { id: "msg_06" })],
    ...{ stopReason: "error", errorKind: "retryable", errorMessage: expect.stringContaining("Rate limit reached") },
  },
  "openai-error": {
    ...{ content: [], stopReason: "error", errorKind: "retryable" },
    errorMessage: expect.stringContaining("The server had an error"),
  },
  "no-item-done": {
    content: [call("call_8", "bash", { command: "rm -rf build/cache" })],
    ...{ stopReason: "toolUse", tokens: tokens(50, 16) },
  },
  "no-item-done-no-output": {
    content: [{ ...call("call_8", "bash", {}), invalidArguments: { raw: '{"command":"rm -rf bu', ...CUT } }],
    ...{ stopReason: "toolUse", tokens: tokens(50, 16) },
  },
  "llama-cpp": {
    content: [
      thought("The user wants a.txt.", { id: "rs_9", summary: [], type: "reasoning", content: [] }),
      call("fc_9call", "read", { path: "a.txt" }),
    ],
    ...{ stopReason: "toolUse", tokens: tokens(10, 12, 20) },
  },
  "no-ids": {
    content: [
      text("Let me look."),
      call(expect.stringMatching(/^call_\w{20}$/), "read", { path: "a" }),
      call(expect.stringMatching(/^call_\w{20}$/), "read", { path: "b" }),
    ],
    stopReason: "toolUse",
  },
  "new-ids": {
    content: [
      {
        ...{ type: "thinking", thinking: "Hm." },
        thinkingSignature: expect.stringContaining('"encrypted_content":"enc11"'),
      },
      text("Done.", { id: "B4==" }),
    ],
    ...{ stopReason: "stop", tokens: tokens(10, 5) },
  },
  openrouter: {
    content: [
      { ...{ type: "thinking", thinking: "I think so." }, thinkingSignature: expect.not.stringContaining("I think") },
      text("Yes.", { id: "msg_12" }),
    ],
    ...{ stopReason: "stop", tokens: tokens(30, 9, 10) },
  },
  "double-arguments": {
    content: [call("call_13", "read", { path: "a" })],
    ...{ stopReason: "toolUse", tokens: tokens(10, 5) },
  },
  "server-tool": {
    content: [text("Found it.", { id: "msg_14" })],
    ...{ stopReason: "stop", tokens: tokens(10, 5) },
  },
  "completed-only": {
    content: [
      { type: "thinking", thinking: "a\n\nb", thinkingSignature: expect.stringContaining('"text":"b"') },
      text("One. Two.", { id: "msg_15" }),
      call("call_15", "ls", {}),
    ],
    ...{ stopReason: "toolUse", tokens: tokens(10, 5) },
  },
};

/** Elements of arrays that are looked through for one of them while `work` runs. */
async function countLooks(work: () => Promise<unknown>): Promise<number> {
  const names = ["filter", "find", "findLast"] as const;
  const originals = names.map((name) => Array.prototype[name]);
  let looks = 0;
  for (const [at, name] of names.entries()) {
    const original = originals[at] as (...args: unknown[]) => unknown;
    const counted = function (this: unknown[], ...args: unknown[]) {
      looks += this.length;
      return Reflect.apply(original, this, args);
    };
    Object.defineProperty(Array.prototype, name, { value: counted, configurable: true, writable: true });
  }
  await work().finally(() => {
    for (const [at, name] of names.entries())
      Object.defineProperty(Array.prototype, name, { value: originals[at], configurable: true, writable: true });
  });
  return looks;
}

describe("thousands of items", () => {
  const items = (count: number) => Array.from({ length: count }, (_, at) => fn("a", { arguments: `{"n":${at}}` }));
  const named = (item: Json, id: string) => ({ ...item, id, call_id: `call_${id}` });

  it.each<[string, (count: number) => Json[]]>([
    [
      "that end under other names",
      (count) => items(count).flatMap((item, at) => [added(named(item, `a${at}`)), done({ ...item, id: `b${at}` })]),
    ],
    [
      "that only the end of the response names anew",
      (count) => [
        ...items(count).map((item, at) => added(named(item, `a${at}`), 0)),
        completed(items(count).map((item, at) => ({ ...item, id: `b${at}` }))),
      ],
    ],
    [
      "that are not named at all",
      (count) => [...items(count).flatMap((item) => [added(item), done(item)]), completed(items(count))],
    ],
  ])("R305 %s are looked through in time that is linear", async (_name, eventsOf) => {
    const looks = async (count: number) => {
      let last: unknown;
      const body = sse(
        ...eventsOf(count),
        ...(eventsOf(1).some(({ type }) => type === "response.completed") ? [] : [completed()]),
      );
      const counted = await countLooks(async () => {
        last = (await decode(body)).message.content.at(-1);
      });
      expect(last).toMatchObject({ arguments: { n: count - 1 } });
      return counted;
    };
    // 8 for linear, 64 for quadratic.
    expect((await looks(800)) / (await looks(100))).toBeLessThan(12);
  });
});

describe("recorded answers", () => {
  const names = readdirSync(folder).map((file) => file.replace(".sse", ""));

  it("are all expected to be something", () => expect(names.sort()).toEqual(Object.keys(EXPECTED).sort()));

  it.each(names)("%s", async (name) => {
    const { message, events } = await decode(fixture(name));
    expect(said(message)).toEqual(EXPECTED[name]);
    expect(events[0]?.type).toBe("start");
    expect(events.at(-1)?.type).toBe(message.stopReason === "error" ? "error" : "done");
  });

  it("S1 R021 mean the same wherever their bytes are cut", async () => {
    const bodies = names.filter((name) => name !== "no-ids").map(fixture);
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...bodies), fc.array(fc.nat(), { maxLength: 60 }), async (body, cuts) => {
        const [whole, cut] = [await decode(body), await decode(body, { cuts })];
        expect(said(cut.message)).toEqual(said(whole.message));
        const types = (events: AssistantMessageEvent[]) => events.map(({ type }) => type);
        expect(types(cut.events)).toEqual(types(whole.events));
      }),
      { numRuns: 150 },
    );
  });

  /** The last item is a message or a call, and none is open: R206 takes that for all. */
  const atRest = (body: string) => {
    const events = [...body.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data ?? "") as Json);
    const items = events.filter(({ type }) => /output_item\.(added|done)$/.test(String(type)));
    const open = items.filter(({ type }) => type === "response.output_item.added").length * 2 - items.length;
    const last = items.at(-1);
    const item = last?.item as Json | undefined;
    const ended = last?.type === "response.output_item.done" && /^(message|function_call)$/.test(String(item?.type));
    return ended && open <= 0 && item?.phase !== "commentary";
  };

  it.each(names)("S4 %s cut off anywhere ends with an error, and keeps what had arrived", async (name) => {
    const body = fixture(name);
    const ends = [...body.matchAll(/\n\n/g)].map(({ index }) => index + 2);
    const last = body.search(/(event: [\w.]+\n)?data: [^\n]*"type":"(response\.(completed|incomplete|failed)|error)"/);
    for (const end of ends.filter((at) => at <= last && !atRest(body.slice(0, at)))) {
      const { message } = await decode(body.slice(0, end));
      expect(message).toMatchObject({ stopReason: "error", errorKind: "retryable" });
      expect(message.errorMessage).toContain("response.completed");
    }
  });
});

describe("tool calls", () => {
  const contentOf = async (...events: Json[]) => (await decode(sse(...events, completed()))).message.content;
  const whole = (id: string, name: string, n: number) =>
    fn(name, { id, call_id: `call_${id}`, arguments: `{"n":${n}}` });

  it("R031 the final output has the last word, whatever the pieces were and which events are missing", async () => {
    const final = '{"path":"a.txt","content":"the whole text"}';
    await fc.assert(
      fc.asyncProperty(
        fc.nat(final.length),
        fc.constantFrom("none", "arguments.done", "item.done"),
        fc.constantFrom("ids", "index", "neither"),
        async (cut, last, named) => {
          const at = named === "ids" ? { item_id: "fc" } : named === "index" ? { output_index: 0 } : {};
          const item = fn("write", { ...(named === "ids" ? { id: "fc" } : {}), call_id: "call_1" });
          const index = named === "index" ? 0 : undefined;
          const full = { ...item, arguments: final };
          const ends: Record<string, Json[]> = {
            none: [],
            "arguments.done": [{ type: "response.function_call_arguments.done", arguments: final, ...at }],
            "item.done": [done(full, index)],
          };
          const events = [
            added({ ...item, arguments: "" }, index),
            args(final.slice(0, cut), at),
            ...(ends[last] ?? []),
          ];
          const { message } = await decode(sse(...events, completed([full])));
          expect(message.content).toEqual([call("call_1", "write", JSON.parse(final))]);
          expect(message.stopReason).toBe("toolUse");
        },
      ),
    );
  });

  it("R031 without a final output pieces that are not a whole object fail, none at all as well", async () => {
    for (const pieces of [[], ['{"command":"rm -rf bu'], ['{"command":', '"ls"'], ['{"a":1}{"a":1}']]) {
      const content = await contentOf(
        added(fn("bash", { id: "fc", call_id: "c" }), 0),
        ...pieces.map((one) => args(one)),
      );
      expect(content).toMatchObject([{ id: "c", arguments: {}, invalidArguments: { raw: pieces.join(""), ...CUT } }]);
    }
    // Pieces that are one are whole: nothing can follow them.
    expect(await contentOf(added(fn("bash", { call_id: "c" }), 0), args('{"command":'), args('"ls"}'))).toEqual([
      call("c", "bash", { command: "ls" }),
    ]);
  });

  it("R031 a call that was cut is shown as one, and its deltas stay what they were (S5)", async () => {
    const { events } = await decode(fixture("no-item-done"));
    const deltas = events.flatMap((event) => (event.type === "toolcall_delta" ? [event.delta] : []));
    expect(deltas.join("")).toBe('{"command":"rm -rf build/cache"}');
    const twice = await decode(fixture("double-arguments"));
    const partials = twice.events.flatMap((event) =>
      event.type === "toolcall_delta" ? [event.partial.content[0]] : [],
    );
    expect(partials.map((block) => block?.type === "toolCall" && block.arguments)).toEqual([{}, { path: "a" }]);
  });

  it("R024 R025 nothing, null and a text encoded twice are arguments; anything else fails with what came", async () => {
    const cases: [unknown, Json][] = [
      ["", call("c", "x", {})],
      ["null", call("c", "x", {})],
      [null, call("c", "x", {})],
      [{ a: 1 }, call("c", "x", { a: 1 })],
      ['"{\\"a\\":1}"', call("c", "x", { a: 1 })],
      ['{"a":1', { ...call("c", "x", {}), invalidArguments: { raw: '{"a":1', error: expect.any(String) } }],
      ["[]", { ...call("c", "x", {}), invalidArguments: { raw: "[]", error: expect.any(String) } }],
    ];
    for (const [given, expected] of cases) {
      const item = fn("x", { call_id: "c", arguments: given });
      expect(await contentOf(done(item, 0))).toEqual([expected]);
    }
  });

  it("R039 arguments with raw control characters and lone surrogates are kept and fail or are reported", async () => {
    const raw = '{"a":"x\u0000y"}';
    expect(await contentOf(done(fn("x", { call_id: "c", arguments: raw }), 0))).toMatchObject([
      { arguments: {}, invalidArguments: { raw } },
    ]);
    expect(await contentOf(done(fn("x", { call_id: "c", arguments: '{"a":"\\ud800"}' }), 0))).toEqual([
      call("c", "x", { a: "\ud800" }),
    ]);
  });

  it("R026 calls with no id, an empty one or the same one have ids of their own", async () => {
    for (const id of [undefined, null, "", "same"]) {
      const item = fn("x", { call_id: id, arguments: "{}" });
      const content = await contentOf(done(item), done({ ...item, name: "y" }, 7));
      const ids = content.map((block) => (block.type === "toolCall" ? block.id : ""));
      expect(new Set(ids).size).toBe(content.length);
      expect(ids.every((one) => /^\w{4,64}$/.test(one))).toBe(true);
    }
  });

  it("gives calls the tool's own name, also when it comes with the last event only", async () => {
    const tools = [{ name: "a.b c/ü", description: "", parameters: {} }];
    const { message: asked } = await decode(sse(done(whole("a", "a_b_c_", 1)), completed()), { tools });
    expect(asked.content).toMatchObject([{ name: "a_b_c_" }]);
    const late = await contentOf(
      added({ type: "function_call", id: "f" }, 0),
      args('{"n":1}', { item_id: "f" }),
      done(whole("f", "read", 1), 0),
    );
    expect(late).toEqual([call("call_f", "read", { n: 1 })]);
  });

  it("S1 items that interleave come apart, whatever names their events have", async () => {
    const order = fc.array(fc.nat(2), { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(order, fc.constantFrom("ids", "indices", "both", "new ids"), async (turns, named) => {
        const texts = ["", "", ""];
        const nameOf = (at: number, step: number) => ({
          ...(named !== "indices" ? { item_id: named === "new ids" ? `${at}-${step}` : `item${at}` } : {}),
          ...(named !== "ids" ? { output_index: at } : {}),
        });
        const items = [
          { type: "message", id: "item0" },
          fn("x", { id: "item1", call_id: "c1" }),
          fn("x", { id: "item2", call_id: "c2" }),
        ];
        const events: Json[] = items.map((item, at) => added(item, named === "ids" ? undefined : at));
        for (const [step, at] of turns.entries()) {
          const piece = `<${step}>`;
          texts[at] += piece;
          events.push(at === 0 ? textDelta(piece, nameOf(at, step)) : args(piece, nameOf(at, step)));
        }
        const { message } = await decode(sse(...events, completed()));
        const found = message.content.map((block) =>
          block.type === "toolCall" ? [block.id, block.invalidArguments?.raw] : ["text", "text" in block && block.text],
        );
        const expected = [["c1", texts[1]], ["c2", texts[2]], ...(texts[0] ? [["text", texts[0]]] : [])];
        expect(found).toEqual(expected);
      }),
    );
  });
});

describe("the ends of an answer", () => {
  const ending = async (type: string, response: Json, before: Json[] = [textDelta("ok")]) =>
    (await decode(sse(...before, { type, response }))).message;

  it("R019 a failure in the stream has the kind of its code", async () => {
    const kinds: [Json, string][] = [
      [{ code: "server_error", message: "An error occurred while processing your request." }, "retryable"],
      [{ code: "rate_limit_exceeded", message: "Too many requests" }, "retryable"],
      [{ code: "insufficient_quota", message: "You exceeded your current quota" }, "quota"],
      [
        { code: "context_length_exceeded", message: "Your input exceeds the context window of this model." },
        "overflow",
      ],
      [
        { code: "invalid_prompt", message: "Invalid prompt: flagged as potentially violating our usage policy." },
        "content_filter",
      ],
      [{ code: "cyber_policy", message: "This request has been flagged." }, "content_filter"],
      [
        { code: "invalid_image", message: "The image data you provided does not represent a valid image." },
        "invalid_request",
      ],
      [{ code: "image_too_small", message: "x" }, "invalid_request"],
      [{ code: "never_heard_of", message: "Hm" }, "retryable"],
    ];
    for (const [error, kind] of kinds) {
      const failed = await ending("response.failed", { status: "failed", error });
      expect([error.code, failed.stopReason, failed.errorKind]).toEqual([error.code, "error", kind]);
      expect(failed.content).toEqual([text("ok")]);
      expect(failed.errorDetails?.code).toBe(error.code);
    }
    expect(await ending("response.failed", { status: "failed", error: null })).toMatchObject({
      errorKind: "retryable",
    });
    expect(await ending("response.completed", { status: "failed", error: { code: "server_error" } })).toMatchObject({
      errorKind: "retryable",
    });
  });

  it("R019 error events of all shapes", async () => {
    const error = { type: "server_error", code: "overloaded", message: "Overloaded" };
    for (const event of [
      { ...error, type: "error", sequence_number: 3 },
      { type: "error", error },
      { error },
      { type: "response.error", error },
    ]) {
      const { message } = await decode(sse(textDelta("ok"), event, textDelta("no")));
      expect(said(message)).toMatchObject({ content: [text("ok")], stopReason: "error", errorKind: "retryable" });
    }
    const plain = await decode("event: error\ndata: upstream is overloaded\n\n");
    expect(plain.message).toMatchObject({ errorKind: "retryable", errorMessage: "upstream is overloaded" });
  });

  it("cancelled is worth another try; an unknown reason for a cut is a cut", async () => {
    expect(await ending("response.cancelled", { status: "cancelled" })).toMatchObject({ errorKind: "retryable" });
    expect(await ending("response.completed", { status: "cancelled" })).toMatchObject({ errorKind: "retryable" });
    for (const incomplete_details of [null, { reason: "max_output_tokens" }, { reason: "new" }]) {
      expect(await ending("response.incomplete", { incomplete_details })).toMatchObject({ stopReason: "length" });
    }
    expect((await ending("response.completed", { status: "in_progress" })).stopReason).toBe("stop");
  });

  it("R116 a cut answer without a single token is an overflow", async () => {
    const cut = { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } };
    expect(await ending("response.incomplete", cut, [])).toMatchObject({ stopReason: "error", errorKind: "overflow" });
    const thought = { ...cut, usage: { input_tokens: 5, output_tokens: 16 } };
    expect(await ending("response.incomplete", thought, [])).toMatchObject({ stopReason: "length" });
  });

  it("R034 cached tokens are counted once, reasoning once, also where it is told apart", async () => {
    const usage = (more: Json) => ({ input_tokens: 10_000, output_tokens: 500, ...more });
    const details = { input_tokens_details: { cached_tokens: 9000 }, output_tokens_details: { reasoning_tokens: 400 } };
    for (const [told, counts] of [
      [usage({ ...details, total_tokens: 10_500 }), tokens(1000, 500, 9000)],
      [usage({ ...details, total_tokens: 10_900 }), tokens(1000, 900, 9000)],
      [{ prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 4 } }, tokens(6, 5, 4)],
      // More than the input: this server counts the cached ones apart (R209).
      [usage({ input_tokens_details: { cached_tokens: 20_000 } }), tokens(10_000, 500, 20_000)],
    ] as const) {
      const { usage: found } = await ending("response.completed", { status: "completed", usage: told });
      expect(found).toMatchObject(counts);
    }
    const { usage: none } = await ending("response.completed", { status: "completed", usage: null });
    expect(none.totalTokens).toBe(0);
  });

  it("R021 a damaged frame is a retryable failure that shows it", async () => {
    const { message } = await decode(`${sse(textDelta("ok"))}data: {"type":"response.outp   \n\n${sse(completed())}`);
    expect(message).toMatchObject({ stopReason: "error", errorKind: "retryable", content: [text("ok")] });
    expect(message.errorMessage).toContain('damaged frame: {"type":"response.outp');
  });

  it("unknown events, empty frames and markers are passed over", async () => {
    const odd = ["constructor", "__proto__", "response.audio.delta", "codex.rate_limits"].map((type) => ({ type }));
    const body = `data: [DONE]\n\n: ping\n\ndata: null\n\ndata: \n\n${sse(...odd, textDelta("ok"), completed())}`;
    expect((await decode(body)).message).toMatchObject({ stopReason: "stop", content: [text("ok")] });
  });
});

describe("a server that does not stream", () => {
  it("answers with one JSON value, or with an error", async () => {
    const output = [
      { type: "reasoning", id: "rs", summary: [{ type: "summary_text", text: "hm" }], encrypted_content: "enc" },
      { type: "message", id: "msg_1", content: [{ type: "output_text", text: "Look" }] },
      fn("read", { id: "fc", call_id: "c", arguments: '{"n":1}' }),
    ];
    const body = {
      id: "r",
      object: "response",
      status: "completed",
      output,
      usage: { input_tokens: 5, output_tokens: 2 },
    };
    const { message } = await decode(JSON.stringify(body));
    expect(message).toMatchObject({
      content: [{ thinking: "hm" }, text("Look", { id: "msg_1" }), call("c", "read", { n: 1 })],
      ...{ stopReason: "toolUse", usage: { totalTokens: 7 }, responseId: "r" },
    });
    for (const [value, errorKind] of [
      [{ error: { message: "Overloaded" } }, "retryable"],
      [{ status: "failed", error: { code: "server_error", message: "x" }, output: [] }, "retryable"],
      [{ status: "in_progress", output: [] }, "retryable"],
      [{ choices: [] }, "unknown"],
    ] as const) {
      expect((await decode(JSON.stringify(value))).message).toMatchObject({ stopReason: "error", errorKind });
    }
  });
});

describe("cost", () => {
  /** An answer of one item with so many pieces. */
  const long = (pieces: number) => {
    const item = { id: "fc", type: "function_call", call_id: "c", name: "write" };
    const full = `{"content":"${"abcd".repeat(pieces)}"}`;
    const deltas = Array.from({ length: pieces }, () => args("abcd", { item_id: "fc", output_index: 0 }));
    return sse(
      ...[added(item, 0), args('{"content":"', { item_id: "fc" }), ...deltas, args('"}', { item_id: "fc" })],
      ...[{ type: "response.function_call_arguments.done", item_id: "fc", arguments: full }],
      ...[done({ ...item, arguments: full }, 0), completed([{ ...item, arguments: full }])],
    );
  };

  it("S5 a delta shares all blocks but its own, and the arguments are read once", async () => {
    const before = { type: "message", id: "msg_1", content: [{ type: "output_text", text: "x".repeat(1000) }] };
    const { events, message } = await decode(sse(done(before, 5)) + long(3000));
    const partials = events.flatMap((event) => (event.type === "toolcall_delta" ? [event.partial] : []));
    expect(partials.length).toBeGreaterThan(0);
    for (const partial of partials) expect(partial.content[0]).toBe(message.content[0]);
    expect(message.content[1]).toMatchObject({ arguments: { content: "abcd".repeat(3000) } });
    expect(message.content).toHaveLength(2);
  });

  it("R040 twenty thousand pieces of reasoning are one block with one signature", async () => {
    const pieces = Array.from({ length: 20_000 }, (_, at) => `w${at} `);
    const full = pieces.join("");
    const item = { type: "reasoning", id: "rs", summary: [], content: [{ type: "reasoning_text", text: full }] };
    const deltas = pieces.map((delta) => ({
      type: "response.reasoning_text.delta",
      item_id: "rs",
      content_index: 0,
      delta,
    }));
    const { message } = await decode(
      sse(added({ type: "reasoning", id: "rs" }, 0), ...deltas, done(item, 0), completed([item])),
    );
    expect(message.content).toEqual([thought(full, { ...item, content: [] })]);
  });
});
