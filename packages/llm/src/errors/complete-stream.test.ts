import { describe, expect, it } from "vitest";
import type { AssistantMessage } from "../protocol/message.ts";
import type { Model } from "../protocol/model.ts";
import type { StreamFn } from "../protocol/request.ts";
import { AssistantAssembler, createAssistantStream, emptyAssistantMessage } from "../stream/assembler.ts";
import { completeStream } from "./complete-stream.ts";

const model: Model = {
  id: "one",
  name: "One",
  provider: "mine",
  api: "openai-completions",
  baseUrl: "https://mine.example",
  input: ["text"],
  reasoning: false,
  cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
  contextWindow: 1000,
  maxTokens: 100,
};

/** The last message of a reply, as a reader of its events gets it, and by `result()`. */
async function last(streamFn: StreamFn, signal?: AbortSignal): Promise<AssistantMessage> {
  const ask = () =>
    completeStream(streamFn)(model, { messages: [] }, { ...(signal && { signal }), apiKey: "secret-key" });
  const ends: unknown[] = [];
  for await (const event of await ask()) {
    if (event.type === "done") ends.push(event.message);
    if (event.type === "error") ends.push(event.error);
  }
  expect(ends).toHaveLength(1);
  const message = await (await ask()).result();
  expect(ends[0]).toMatchObject({ stopReason: message.stopReason, usage: message.usage });
  return message;
}

/** A reply that fails in its own way after a word. */
function brokenAfterAWord(error: unknown): StreamFn {
  return () => {
    const stream = createAssistantStream();
    const answer = new AssistantAssembler(model, stream);
    answer.textDelta(answer.openText(), "Half");
    stream.fail(error);
    return stream;
  };
}

const throwing = (error: unknown): Record<string, StreamFn> => ({
  "thrown at once": () => {
    throw error;
  },
  rejected: () => Promise.reject(error),
  "in the stream": brokenAfterAWord(error),
});

const caused = (message: string, code: string, inner = "") =>
  Object.assign(new TypeError(message), { cause: Object.assign(new Error(inner), { code }) });
const answered = (fields: object) => Object.assign(new Error("Request failed"), fields);

const KINDS: [name: string, error: unknown, kind: string][] = [
  ["fetch failed", new TypeError("fetch failed"), "retryable"],
  ["fetch failed, with its cause", caused("fetch failed", "ECONNREFUSED"), "retryable"],
  ["a host that is not found", caused("fetch failed", "ENOTFOUND", "getaddrinfo ENOTFOUND mine.example"), "retryable"],
  ["a body that breaks off", caused("terminated", "UND_ERR_SOCKET", "other side closed"), "retryable"],
  ["a browser", new TypeError("Failed to fetch"), "retryable"],
  ["a time-out", new DOMException("The operation was aborted due to timeout", "TimeoutError"), "retryable"],
  ["a certificate", caused("fetch failed", "SELF_SIGNED_CERT_IN_CHAIN"), "invalid_request"],
  ["an SDK: 429 with headers", answered({ status: 429, headers: new Headers({ "retry-after": "7" }) }), "retryable"],
  ["an SDK: 401", answered({ status: 401, error: { message: "Incorrect API key provided" } }), "auth"],
  [
    "an SDK: 400",
    answered({ statusCode: 400, responseBody: '{"error":{"message":"prompt is too long"}}' }),
    "overflow",
  ],
  ["an SDK: 402", answered({ status: 402, body: { message: "Insufficient balance" } }), "quota"],
  ["a server's own words", new Error("Service is currently unavailable"), "retryable"],
  ["a bug", new TypeError("x is not a function"), "unknown"],
  ["a file", Object.assign(new Error("ENOENT: no such file"), { code: "ENOENT" }), "unknown"],
  ["a word", "no", "unknown"],
  ["nothing", undefined, "unknown"],
  ["an error that is its own cause", ring(), "retryable"],
];

function ring(): Error {
  const error = new Error("fetch failed");
  error.cause = error;
  return error;
}

describe("a streamFn of a program", () => {
  it.each(KINDS)("R284 %s is classified by the table", async (_name, error, kind) => {
    for (const streamFn of Object.values(throwing(error))) {
      expect(await last(streamFn)).toMatchObject({
        stopReason: "error",
        errorKind: kind,
        errorMessage: expect.any(String),
      });
    }
  });

  it("R284 what had arrived before a throw is kept, and secrets are not shown", async () => {
    const streamFn = brokenAfterAWord(new Error("bad key secret-key"));
    const events = await completeStream(streamFn)(model, { messages: [] }, { apiKey: "secret-key" });
    let text = "";
    for await (const event of events) if (event.type === "error") text = JSON.stringify(event.error);
    expect(text).toContain('"text":"Half"');
    expect(text).not.toContain("secret-key");
  });

  it("R284 a throw after an abort is an abort", async () => {
    const message = await last(brokenAfterAWord(new DOMException("stop", "AbortError")), AbortSignal.abort());
    expect(message).toMatchObject({ stopReason: "aborted", errorKind: "aborted" });
  });

  const ended = (fields: Partial<AssistantMessage>): StreamFn => {
    return () => {
      const stream = createAssistantStream();
      const message = { ...emptyAssistantMessage(model), ...fields };
      stream.push(
        message.stopReason === "error"
          ? { type: "error", reason: "error", error: message }
          : { type: "done", reason: "stop", message },
      );
      stream.end(message);
      return stream;
    };
  };

  const told: [fields: Partial<AssistantMessage>, kind: string][] = [
    [{ errorMessage: "Rate limit reached for requests" }, "retryable"],
    [{ errorMessage: "no", errorDetails: { status: 503 } }, "retryable"],
    [{ errorMessage: "no", errorDetails: { status: 401 } }, "auth"],
    [{ errorMessage: "no", errorDetails: { code: "insufficient_quota" } }, "quota"],
    [{ errorMessage: "maximum context length is 8192 tokens", errorKind: "unknown" }, "overflow"],
    [{ errorMessage: "Rate limit reached", errorKind: "auth" }, "auth"],
    [{}, "unknown"],
  ];
  it.each(told)("R284 an error event %j is of kind %s", async (fields, kind) => {
    const message = await last(ended({ ...fields, stopReason: "error" }));
    expect([message.errorKind, message.errorMessage]).toEqual([kind, fields.errorMessage]);
  });

  const tokens = { input: 1_000_000, output: 100_000, cacheRead: 0, cacheWrite: 0, totalTokens: 1_100_000 };
  const free = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  it("R284 usage without a cost is counted by the prices of the model, and a cost of its own stays", async () => {
    expect((await last(ended({ usage: { ...tokens, cost: free } }))).usage.cost).toMatchObject({
      input: 3,
      output: 1.5,
      total: 4.5,
    });
    const own = { ...free, total: 2 };
    expect((await last(ended({ usage: { ...tokens, cost: own } }))).usage.cost).toEqual(own);
  });

  it("R284 a stream that ends without a last event is a failure that may pass, also without `result`", async () => {
    const stream = createAssistantStream();
    new AssistantAssembler(model, stream).start();
    stream.end();
    const bare = { [Symbol.asyncIterator]: () => stream[Symbol.asyncIterator]() };
    const streamFn: StreamFn = () => Object.assign(bare, { result: Reflect.get(bare, "result") });
    const message = await (await completeStream(streamFn)(model, { messages: [] }, {})).result();
    expect(message).toMatchObject({ stopReason: "error", errorKind: "retryable" });
  });
});
