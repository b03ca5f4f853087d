import { describe, expect, it } from "vitest";
import { APIS, type Api, readReply, said, wireOf } from "../__fixtures__/read-reply.ts";

type Json = Record<string, unknown>;

const REAL = { path: "a b", deep: { n: [1, { path: "x" }] } };
const TEXT = JSON.stringify(REAL);
const cut = (text: string, ...at: number[]) => [0, ...at].map((from, index) => text.slice(from, at[index]));
const PIECES = cut(TEXT, 3, 9, 20);
const SO_FAR = [3, 9, 20, TEXT.length].map((end) => TEXT.slice(0, end));

/** What comes in the place of the arguments' pieces, and what they are. */
const ARGUMENTS: [string, readonly string[], unknown][] = [
  ["R202 the plain pieces", PIECES, REAL],
  ["R202 a placeholder {} first", ["{}", ...PIECES], REAL],
  ["R202 a placeholder { } with spaces first", [" { } ", ...PIECES], REAL],
  ["R202 null first", ["null", ...PIECES], REAL],
  ["R202 an empty text in quotes first", ['""', ...PIECES], REAL],
  ["R202 the placeholder twice", ["{}", "{}", ...PIECES], REAL],
  ["R202 a placeholder, then a line end", ["{}", "\n", ...PIECES], REAL],
  ["R202 a placeholder in two pieces", ["{", "}", ...PIECES], REAL],
  ["R202 nothing but a placeholder", ["{}"], {}],
  ["R202 nothing but null", ["null"], {}],
  ["R202 a placeholder behind the real ones", [...PIECES, "{}"], REAL],
  ["R203 the whole once more at the end", [...PIECES, TEXT], REAL],
  ["R203 the whole once more, written otherwise", [...PIECES, JSON.stringify(REAL, null, 2)], REAL],
  ["R203 the whole twice more", [...PIECES, TEXT, TEXT], REAL],
  ["R203 the whole once more in pieces", [...PIECES, ...PIECES], REAL],
  ["R203 each delta repeats all so far", SO_FAR, REAL],
  ["R203 each delta repeats all so far, the last one twice", [...SO_FAR, TEXT], REAL],
  ["R202 R203 a placeholder, then all so far each time", ["{}", ...SO_FAR], REAL],
  ["R203 an object that begins as its parent does", ['{"a":', '{"a":1}}'], { a: { a: 1 } }],
  ["R203 an object in pieces that begins as its parent does", ['{"a":', '{"a":', "{}", "}}"], { a: { a: {} } }],
  ["R203 two different objects are not one", ['{"path":"a"}', '{"path":"b"}'], "invalid"],
  ["C7 half an object", PIECES.slice(0, 2), "invalid"],
  ["C7 half an object that was repeated", SO_FAR.slice(0, 2), "invalid"],
];

describe.each(APIS)("arguments of %s", (api) => {
  it.each(ARGUMENTS)("%s", async (_title, pieces, expected) => {
    const wire = wireOf(api);
    const { message, events } = await readReply(
      api,
      wire.sse(...wire.begin(), ...wire.call("c1", "read", pieces), ...wire.end("calls")),
    );
    expect(said(message)).toEqual([{ read: expected }]);
    expect(message.stopReason).toBe("toolUse");
    expect(events.filter(({ type }) => type === "toolcall_end")).toHaveLength(1);
  });
});

describe("choices of a chat", () => {
  const chunk = (...choices: Json[]) => ({ id: "c", choices });
  const call = (name = "bash", args = '{"command":"ls"}') => ({
    tool_calls: [{ index: 0, id: "k", type: "function", function: { name, arguments: args } }],
  });
  const LS = { bash: { command: "ls" } };
  const whole = (...messages: Json[]) =>
    JSON.stringify(chunk(...messages.map((message) => ({ finish_reason: "tool_calls", message }))));
  const wire = wireOf("openai-completions");

  it.each<[string, string, unknown[]]>([
    [
      "R201 text in the first, the call in the second of one chunk",
      wire.sse(
        chunk({ index: 0, delta: { content: "Look" } }, { index: 1, delta: call() }),
        chunk({ index: 0, delta: {}, finish_reason: "stop" }, { index: 1, delta: {}, finish_reason: "tool_calls" }),
      ),
      ["Look", LS],
    ],
    [
      "R201 the same without indexes",
      wire.sse(chunk({ delta: { content: "Look" }, finish_reason: "tool_calls" }, { delta: call() })),
      ["Look", LS],
    ],
    [
      "R201 both with index 0",
      wire.sse(
        chunk({ index: 0, delta: { content: "Look" } }, { index: 0, delta: call(), finish_reason: "tool_calls" }),
      ),
      ["Look", LS],
    ],
    [
      "R201 in chunks of their own",
      wire.sse(
        chunk({ index: 0, delta: { content: "Look" } }),
        chunk({ index: 1, delta: call("bash", '{"command"') }),
        chunk({ index: 0, delta: { content: " there" }, finish_reason: "tool_calls" }),
        chunk({ index: 1, delta: { tool_calls: [{ index: 0, function: { arguments: ':"ls"}' } }] } }),
      ),
      ["Look there", LS],
    ],
    [
      "R201 an empty first choice",
      wire.sse(
        chunk({ index: 0, delta: {} }, { index: 1, delta: { content: "Mine" } }),
        chunk({ index: 1, delta: {}, finish_reason: "stop" }),
      ),
      ["Mine"],
    ],
    ["R201 null in the place of the first", wire.sse({ choices: [null, { delta: call(), finish_reason: "x" }] }), [LS]],
    ["R201 no choice but the second", wire.sse(chunk({ index: 1, delta: call(), finish_reason: "tool_calls" })), [LS]],
    ["R201 a whole body", whole({ content: "Look" }, { content: null, ...call() }), ["Look", LS]],
    ["R201 a whole body with an empty first", whole({ content: "" }, { content: "Mine", ...call() }), ["Mine", LS]],
    [
      "R201 calls in a choice each",
      whole({ content: "Look" }, call(), call("read", '{"path":"a"}')),
      ["Look", LS, { read: { path: "a" } }],
    ],
    [
      "R321 a second answer",
      wire.sse(
        chunk({ index: 0, delta: { content: "Mine" } }),
        chunk({ index: 1, delta: { content: " OTHER" } }),
        chunk({ index: 0, delta: {}, finish_reason: "stop" }),
        chunk({ index: 1, delta: {}, finish_reason: "length" }),
      ),
      ["Mine"],
    ],
    [
      "R321 a second answer in the same chunk, with thoughts",
      wire.sse(
        chunk(
          { index: 0, delta: { content: "Mine" }, finish_reason: "stop" },
          { index: 1, delta: { content: "OTHER", reasoning_content: "hm" } },
        ),
      ),
      ["Mine"],
    ],
    [
      "R321 a call in both counts once",
      wire.sse(chunk({ index: 0, delta: call(), finish_reason: "tool_calls" }, { index: 1, delta: call("read") })),
      [LS],
    ],
    ["R321 a whole body", whole({ content: "Mine", ...call() }, { content: "OTHER", ...call("read") }), ["Mine", LS]],
  ])("%s", async (_title, body, expected) => {
    const { message } = await readReply("openai-completions", body);
    expect(said(message)).toEqual(expected);
    expect(message.stopReason).toBe(expected.some((part) => typeof part !== "string") ? "toolUse" : "stop");
  });
});

describe.each(APIS)("errors in the stream of %s", (api) => {
  const QUOTA = "You exceeded your current quota, please check your plan and billing details.";
  const BUSY = "The server is overloaded, try again later";
  /** Bodies with the text that must be told and the kind. */
  const bodies: [string, unknown, string, string][] = [
    [
      "{error: {…}}",
      { error: { type: "insufficient_quota", code: "insufficient_quota", message: QUOTA } },
      QUOTA,
      "quota",
    ],
    ["{error: text}", { error: BUSY }, BUSY, "retryable"],
    ["{error: text} beside a code", { error: "no", code: "invalid_api_key" }, "no", "auth"],
    ["{message}", { message: BUSY }, BUSY, "retryable"],
    ["{message} with a code", { code: "insufficient_quota", message: QUOTA }, QUOTA, "quota"],
    ["{detail}", { detail: BUSY }, BUSY, "retryable"],
    ["{detail: [{msg}]}", { detail: [{ loc: ["body"], msg: BUSY }] }, BUSY, "retryable"],
    ["[{error}]", [{ error: { code: 503, message: BUSY, status: "UNAVAILABLE" } }], BUSY, "retryable"],
    ["{type: …error}", { type: "overloaded_error", message: "Overloaded" }, "Overloaded", "retryable"],
    ["{object: error}", { object: "error", message: BUSY, type: "ServerError", code: 503 }, BUSY, "retryable"],
    ["{errors: […]}", { success: false, errors: [{ code: 7003, message: BUSY }] }, BUSY, "retryable"],
    ["{code, msg}", { code: 503, msg: BUSY }, BUSY, "retryable"],
    ["{error_code, error_msg}", { error_code: 18, error_msg: BUSY }, BUSY, "retryable"],
    ["{errorCode, errorMsg}", { errorCode: "18", errorMsg: BUSY }, BUSY, "retryable"],
    ["{errcode, errmsg}", { errcode: 18, errmsg: BUSY }, BUSY, "retryable"],
    ["{base_resp}", { base_resp: { status_code: 1002, status_msg: BUSY } }, BUSY, "retryable"],
  ];
  const wire = () => wireOf(api);
  const told = (writer = wire()) =>
    [...writer.begin(), ...writer.text("Hel")].slice(0, api === "openai-completions" ? 2 : 3);
  const frames = (...events: unknown[]) => wireOf("anthropic-messages").sse(...events);
  const positions: [string, (error: string) => string, unknown[]][] = [
    ["bare behind frames", (error) => `${frames(...told())}${error}`, ["Hel"]],
    ["bare with line ends", (error) => `${frames(...told())}${error}\n\n`, ["Hel"]],
    ["bare behind a comment", (error) => `: keep-alive\n\n${error}\n`, []],
    ["bare behind comment and frames", (error) => `${frames(...told())}: ping\n\n${error}`, ["Hel"]],
    ["bare behind CR LF", (error) => `${frames(...told()).replaceAll("\n", "\r\n")}${error}\r\n`, ["Hel"]],
    ["bare at once", (error) => error, []],
    ["bare at once with frames behind it", (error) => `${error}\n\ndata: [DONE]\n\n`, []],
    [
      "bare over several lines",
      (error) => `${frames(...told())}${JSON.stringify(JSON.parse(error), null, 2)}\n`,
      ["Hel"],
    ],
    ["as data", (error) => `${frames(...told())}data: ${error}\n\n`, ["Hel"]],
    ["as an error event", (error) => `${frames(...told())}event: error\ndata: ${error}\n\n`, ["Hel"]],
  ];

  it.each(positions)("R205 %s: the server's text and its kind", async (_title, place, kept) => {
    for (const [shape, error, text, kind] of bodies) {
      for (const broken of [false, true]) {
        const { message, events } = await readReply(api, place(JSON.stringify(error)), { broken });
        expect([shape, message.stopReason, message.errorKind]).toEqual([shape, "error", kind]);
        expect(message.errorMessage).toContain(text);
        expect(said(message)).toEqual(kept);
        expect(events.filter(({ type }) => type === "error" || type === "done")).toHaveLength(1);
      }
    }
  });

  it("R205 an error inside a frame that was begun", async () => {
    const half = frames(...told()).slice(0, -20);
    const { message } = await readReply(api, `${half}{"error":{"message":"${QUOTA}","code":"insufficient_quota"}}\n\n`);
    expect(message).toMatchObject({ errorKind: "quota" });
    expect(message.errorMessage).toContain(QUOTA);
  });

  it.each([
    ["words", "upstream connect error: quota exceeded, you exceeded your current quota", "quota"],
    ["words that nobody knows", "Something odd", "retryable"],
    ["half a body", '{"error":{"message":"You exceeded your current quota","code":"insufficient_quo', "quota"],
  ])("R205 %s in the place of an end", async (_title, text, kind) => {
    const { message } = await readReply(api, `${frames(...told())}${text}`);
    expect(message).toMatchObject({ stopReason: "error", errorKind: kind });
    expect(message.errorMessage).toContain(text.slice(0, 20));
  });

  it("R205 stray lines break nothing when the reply is whole", async () => {
    const writer = wire();
    const [first, ...rest] = [...writer.begin(), ...writer.text("Hello"), ...writer.end("stop")];
    const body = `junk line\n[info] hello\n${frames(first)}:\n\nretry: 5\nnonsense: {"a"\n${writer.sse(...rest)}bye\n`;
    const { message } = await readReply(api, body);
    expect(message).toMatchObject({ stopReason: "stop" });
    expect(said(message)).toEqual(["Hello"]);
  });

  it("R304 R306 a giant error text is cut, and an error without words has some", async () => {
    for (const text of ["<title".repeat(60_000), " ".repeat(400_000), "\n".repeat(400_000), '{"a":'.repeat(90_000)]) {
      const { message } = await readReply(api, frames(...told(), { error: { message: text } }));
      expect(message.stopReason).toBe("error");
      expect(message.errorMessage?.length).toBeGreaterThan(5);
      expect(message.errorMessage?.length).toBeLessThan(1000);
    }
    for (const error of [{ code: 500 }, { message: "" }, [], "x", { constructor: 1 }]) {
      const { message } = await readReply(api, frames({ error }));
      expect(message.errorMessage).toMatch(/\S/);
      expect(message.errorKind).toMatch(/\S/);
    }
  });
});

describe.each(APIS)("ends of %s", (api) => {
  it.each(["constructor", "__proto__", "toString", "hasOwnProperty", "x".repeat(100_000)])(
    "R306 the reason %.20s is a word like any other",
    async (word) => {
      const wire = wireOf(api);
      const body = wire.sse(...wire.begin(), ...wire.text("Hi"), ...wire.end("stop"));
      const odd = body.replace(/"(finish_reason|stop_reason|status)":"(stop|end_turn|completed)"/g, `"$1":"${word}"`);
      const { message } = await readReply(api, odd);
      expect(message).toMatchObject({ stopReason: "stop" });
      expect(said(message)).toEqual(["Hi"]);
    },
  );

  it("R307 arguments nested thousands deep are refused, as text and as an object", async () => {
    const deep = `{"a":${"[".repeat(8000)}${"]".repeat(8000)}}`;
    const wire = wireOf(api);
    const body = wire.sse(...wire.begin(), ...wire.call("c", "read", [deep]), ...wire.end("calls"));
    expect(said((await readReply(api, body)).message)).toEqual([{ read: "invalid" }]);
    const asObject = body.replace(JSON.stringify(deep), deep);
    const { message } = await readReply(api, asObject);
    expect(JSON.stringify(message).length).toBeLessThan(20_000);
    expect(
      message.content.every((block) => block.type !== "toolCall" || Object.keys(block.arguments).length === 0),
    ).toBe(true);
  });

  it("R305 thousands of calls in one reply: each event shares what did not change", async () => {
    const wire = wireOf(api);
    const calls = Array.from({ length: 3000 }, (_, at) => wire.call(`c${at}`, "read", [`{"n":${at}}`])).flat();
    const { message, events } = await readReply(api, wire.sse(...wire.begin(), ...calls, ...wire.end("calls")));
    expect(message.content).toHaveLength(3000);
    expect(message.content.at(-1)).toMatchObject({ id: "c2999", arguments: { n: 2999 } });
    expect(message.stopReason).toBe("toolUse");
    const starts = events.flatMap((event) => (event.type === "toolcall_start" ? [event] : []));
    expect(starts.map(({ contentIndex }) => contentIndex)).toEqual(starts.map((_, at) => at));
    const partial = starts[40]?.partial;
    expect(partial?.content).toHaveLength(41);
    expect(JSON.parse(JSON.stringify(partial))).toMatchObject({ role: "assistant", content: { length: 41 } });
    expect({ ...partial }.content?.[0]).toBe(partial?.content[0]);
  });
});

describe("usage", () => {
  const usageOf = async (api: Api, ...reports: Json[]) => {
    const wire = wireOf(api);
    const body = wire.sse(...wire.begin(), ...wire.text("Hi"), ...reports);
    const { input, output, cacheRead, cacheWrite, totalTokens } = (await readReply(api, body)).message.usage;
    return { input, output, cacheRead, cacheWrite, totalTokens };
  };
  const began = (usage: Json) => ({ type: "message_start", message: { usage } });
  const ended = (usage: Json) => ({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage });
  const stop = { type: "message_stop" };

  it.each<[string, Json[], Json]>([
    [
      "the last report wins",
      [
        began({ input_tokens: 100_000, output_tokens: 1 }),
        ended({ input_tokens: 2000, cache_read_input_tokens: 98_000, output_tokens: 5 }),
      ],
      { input: 2000, cacheRead: 98_000, output: 5, totalTokens: 100_005 },
    ],
    [
      "a prompt that is all cached has no input",
      [began({ input_tokens: 900 }), ended({ input_tokens: 0, cache_read_input_tokens: 900, output_tokens: 5 })],
      { input: 0, cacheRead: 900, totalTokens: 905 },
    ],
    [
      "a report of zeros says nothing",
      [
        began({ input_tokens: 70, cache_creation_input_tokens: 30 }),
        ended({ input_tokens: 0, output_tokens: 5, cache_read_input_tokens: 0 }),
      ],
      { input: 70, cacheWrite: 30, output: 5, totalTokens: 105 },
    ],
    [
      "the output alone leaves the rest",
      [
        began({ input_tokens: 70, cache_read_input_tokens: 30 }),
        ended({ output_tokens: 5 }),
        ended({ output_tokens: 9 }),
      ],
      { input: 70, cacheRead: 30, output: 9, totalTokens: 109 },
    ],
    [
      "figures that are none",
      [
        began({ input_tokens: 70 }),
        ended({ input_tokens: 1e308, output_tokens: -4, cache_read_input_tokens: "__proto__" }),
      ],
      { input: 70, output: 0, totalTokens: 70 },
    ],
  ])("R209 anthropic: %s", async (_title, reports, expected) => {
    expect(await usageOf("anthropic-messages", ...reports, stop)).toMatchObject(expected);
  });

  it.each<[string, number, number, Json]>([
    ["cached tokens in the prompt", 100, 40, { input: 60, cacheRead: 40, totalTokens: 105 }],
    ["all of the prompt", 100, 100, { input: 0, cacheRead: 100, totalTokens: 105 }],
    ["more cached than the prompt", 2000, 98_000, { input: 2000, cacheRead: 98_000, totalTokens: 100_005 }],
    ["a prompt of none", 0, 98_000, { input: 0, cacheRead: 98_000, totalTokens: 98_005 }],
  ])("R209 OpenAI's: %s", async (_title, prompt, cached, expected) => {
    const chat = { prompt_tokens: prompt, completion_tokens: 5, prompt_tokens_details: { cached_tokens: cached } };
    expect(await usageOf("openai-completions", ...wireOf("openai-completions").end("stop", chat))).toMatchObject(
      expected,
    );
    const responses = { input_tokens: prompt, output_tokens: 5, input_tokens_details: { cached_tokens: cached } };
    expect(await usageOf("openai-responses", ...wireOf("openai-responses").end("stop", responses))).toMatchObject(
      expected,
    );
  });

  it("R209 the total shows that cached tokens are counted apart", async () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 5,
      total_tokens: 145,
      prompt_tokens_details: { cached_tokens: 40 },
    };
    const counts = await usageOf("openai-completions", ...wireOf("openai-completions").end("stop", usage));
    expect(counts).toMatchObject({ input: 100, cacheRead: 40, totalTokens: 145 });
  });

  it("R209 a later report of a chat wins", async () => {
    const reports = [{ choices: [], usage: { prompt_tokens: 5, completion_tokens: 1 } }];
    const last = wireOf("openai-completions").end("stop", { prompt_tokens: 50, completion_tokens: 7 });
    expect(await usageOf("openai-completions", ...reports, ...last)).toMatchObject({ input: 50, output: 7 });
  });
});

describe("anthropic events that nobody knows", () => {
  const wire = wireOf("anthropic-messages");
  const [startBlock, , stopBlock] = wireOf("anthropic-messages").text("x");
  const odd = (delta: Json) => ({ type: "content_block_delta", index: 0, delta });

  it.each([
    { type: "citations_delta", text: "NO" },
    { type: "mystery_delta", text: "NO", thinking: "NO", partial_json: "NO" },
    { type: "thinking_delta", thinking: "NO" },
    { type: "input_json_delta", partial_json: "NO", text: "NO" },
    { type: "constructor", text: "NO" },
  ])("R322 a delta %j is passed over", async (delta) => {
    const good = odd({ type: "text_delta", text: "Hi" });
    const body = wire.sse(...wire.begin(), startBlock, odd(delta), good, odd(delta), stopBlock, ...wire.end("stop"));
    expect(said((await readReply("anthropic-messages", body)).message)).toEqual(["Hi"]);
    const unannounced = wire.sse(
      ...wire.begin(),
      odd({ ...delta, type: "mystery" }),
      ...wire.text("Hi"),
      ...wire.end("stop"),
    );
    expect(said((await readReply("anthropic-messages", unannounced)).message)).toEqual(["Hi"]);
  });
});
