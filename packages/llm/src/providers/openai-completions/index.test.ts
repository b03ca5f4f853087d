import { getEventListeners, once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import type { AssistantMessageEvent } from "../../protocol/events.ts";
import type { Model } from "../../protocol/model.ts";
import type { Context, StreamOptions } from "../../protocol/request.ts";
import { text, thinking, toolCall } from "../../scripted/reply.ts";
import type { WireReply } from "../../scripted/wire-reply.ts";
import { type WireServer, type WireServerOptions, wireServer } from "../../scripted/wire-server.ts";
import { forgetAdjustments } from "../adjust/adjustment-memory.ts";
import { stream } from "../table.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  forgetAdjustments();
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function serve(steps: WireServerOptions["steps"], more: Partial<WireServerOptions> = {}): Promise<WireServer> {
  const server = await wireServer({ steps, ...more });
  cleanups.push(() => server.close());
  return server;
}

/** A server of one handler that sees the parsed body. */
async function serveRaw(
  answer: (body: Record<string, unknown>, response: ServerResponse, request: IncomingMessage) => void,
) {
  const server: Server = createServer(async (request, response) => {
    let raw = "";
    for await (const chunk of request) raw += chunk;
    answer(JSON.parse(raw) as Record<string, unknown>, response, request);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const modelAt = (url: string, more: Partial<Model> = {}): Model => ({
  id: "m",
  name: "M",
  api: "openai-completions",
  provider: "mock",
  baseUrl: `${url}/v1`,
  reasoning: true,
  input: ["text"],
  cost: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 },
  contextWindow: 100_000,
  maxTokens: 1000,
  ...more,
});

const HI: Context = { systemPrompt: "Be brief.", messages: [{ role: "user", content: "hi", timestamp: 1 }] };

const answer = (model: Model, options: StreamOptions = {}, context = HI) => stream(model, context, options).result();

const hello: WireReply = { content: [text("Hello")] };

const sseOf = (...frames: unknown[]) => frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join("");
const said = (content: string, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta: { content }, finish_reason }],
});

describe("openai-completions over HTTP", () => {
  it("S1 streams thinking, text and calls with a partial on each event", async () => {
    const server = await serve(
      [
        {
          content: [
            thinking("hm"),
            text("Let me look"),
            toolCall("read", { path: "a" }),
            toolCall("read", { path: "b" }),
          ],
        },
      ],
      { writeSize: 7 },
    );
    const events: AssistantMessageEvent[] = [];
    const answering = stream(modelAt(server.url), HI, {});
    for await (const event of answering) events.push(event);
    const message = await answering.result();
    expect(message.stopReason).toBe("toolUse");
    expect(message.content).toMatchObject([
      { type: "thinking", thinking: "hm" },
      { type: "text", text: "Let me look" },
      { type: "toolCall", name: "read", arguments: { path: "a" } },
      { type: "toolCall", name: "read", arguments: { path: "b" } },
    ]);
    expect(message.usage.totalTokens).toBeGreaterThan(0);
    for (const event of events.slice(0, -1)) expect(event).toHaveProperty("partial.role", "assistant");
    server.assertDone();
  });

  it("sends the key to the server of the model, and headers of model and caller", async () => {
    const server = await serve([hello]);
    await answer(modelAt(server.url, { headers: { "X-A": "model", "X-B": "model" } }), {
      apiKey: " key ",
      headers: { "x-b": "caller" },
    });
    expect(server.requests[0]?.headers).toMatchObject({ authorization: "Bearer key", "x-a": "model", "x-b": "caller" });
    expect(server.requests[0]?.path).toBe("/v1/chat/completions");
  });

  it("R030 each model's request goes to its own server with its own key", async () => {
    const [local, cloud] = [await serve([hello, hello]), await serve([hello])];
    await answer(modelAt(local.url), { apiKey: "local-key" });
    await answer(modelAt(cloud.url, { provider: "cloud" }), { apiKey: "cloud-key" });
    await answer(modelAt(local.url));
    expect(local.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer local-key", undefined]);
    expect(cloud.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer cloud-key"]);
  });

  it("O3 a request begins with the bytes of the one before", async () => {
    const server = await serve(() => hello);
    const context: Context = { systemPrompt: "s", messages: [...HI.messages] };
    for (let turn = 0; turn < 4; turn += 1) {
      const reply = await answer(modelAt(server.url), { sessionId: "s1" }, context);
      context.messages.push(reply, { role: "user", content: `turn ${turn}`, timestamp: 1 });
    }
    const heads = server.requests.map(({ raw }) => raw.slice(0, raw.lastIndexOf("]")));
    for (const [turn, head] of heads.slice(1).entries()) expect(head.startsWith(heads[turn] ?? "?")).toBe(true);
    server.assertDone();
  });
});

describe("failures over HTTP", () => {
  it("R019 an error inside a 200 is an error, before and after text, and what came is kept", async () => {
    const error = { message: "Overloaded", type: "overloaded_error" };
    const server = await serve([
      { content: [text("Hello")], chunkSize: 1, wire: { mode: "error", error } },
      { content: [text("Hello")], chunkSize: 1, wire: { mode: "error", afterDeltas: 3, error } },
    ]);
    for (const kept of ["", "Hel"]) {
      const message = await answer(modelAt(server.url));
      expect(message).toMatchObject({ stopReason: "error", errorKind: "retryable" });
      expect(message.content.map((block) => (block.type === "text" ? block.text : "")).join("")).toBe(kept);
    }
  });

  it.each<[string, WireReply, RegExp]>([
    ["no response", { content: [], wire: { mode: "no_response" } }, /sent no data for 0\.1 s/],
    ["headers only", { content: [], wire: { mode: "headers_only" } }, /sent no data for 0\.1 s/],
    [
      "a stall",
      { content: [text("Hello")], chunkSize: 1, wire: { mode: "stall", afterDeltas: 1 } },
      /sent no data for 0\.1 s/,
    ],
  ])("R022 %s ends by a time-out that says so", async (_title, step, message) => {
    const server = await serve([step]);
    const failed = await answer(modelAt(server.url), { timeouts: { firstByteMs: 120, idleMs: 120 } });
    expect(failed).toMatchObject({
      stopReason: "error",
      errorKind: "retryable",
      errorMessage: expect.stringMatching(message),
    });
  });

  it.each<[string, WireReply]>([
    ["a reset", { content: [text("Hello")], chunkSize: 1, wire: { mode: "reset", afterDeltas: 3 } }],
    ["half a frame", { content: [text("Hello")], chunkSize: 1, wire: { mode: "half_frame", afterDeltas: 3 } }],
    ["a clean end too early", { content: [text("Hello")], chunkSize: 1, wire: { mode: "no_end", afterDeltas: 3 } }],
  ])("R023 S4 %s is an error and not the answer; what came is kept apart from it", async (_title, step) => {
    const server = await serve([step]);
    const message = await answer(modelAt(server.url));
    expect(message).toMatchObject({
      stopReason: "error",
      errorKind: "retryable",
      content: [{ type: "text", text: "Hel" }],
    });
    expect(message.errorMessage).not.toBe("");
  });

  it("R037 one request for one failure: nothing is retried below; the wait is reported", async () => {
    const status = (headers: Record<string, string>): WireReply => ({
      content: [],
      wire: { mode: "status", status: 429, headers, body: { error: { message: "Too many requests" } } },
    });
    const server = await serve([status({ "retry-after": "2" }), status({ "retry-after-ms": "1500" }), status({})]);
    const waits: unknown[] = [];
    for (let i = 0; i < 3; i += 1) waits.push((await answer(modelAt(server.url))).errorDetails?.retryAfterMs);
    expect(waits).toEqual([2000, 1500, undefined]);
    expect(server.requests).toHaveLength(3);
  });

  it("R038 a quota failure is one, under each status it comes with", async () => {
    const status = (code: number, type: string): WireReply => ({
      content: [],
      wire: { mode: "status", status: code, body: { error: { message: "You exceeded your current quota", type } } },
    });
    const server = await serve([status(429, "insufficient_quota"), status(402, "x"), status(403, "billing_error")]);
    for (let i = 0; i < 3; i += 1) expect((await answer(modelAt(server.url))).errorKind).toBe("quota");
  });

  it("R028 an HTML error page of 20 kB is one line", async () => {
    const page = `<html><head><title>Bad thing</title></head><body>${"x".repeat(20_000)}</body></html>`;
    const url = await serveRaw((_body, response) => response.writeHead(400, { "content-type": "text/html" }).end(page));
    expect(await answer(modelAt(url))).toMatchObject({
      errorMessage: "Bad thing (HTTP 400)",
      errorKind: "invalid_request",
    });
  });

  it("R116 a 413 and a plain text are overflows", async () => {
    const url = await serveRaw((_body, response) => response.writeHead(413).end());
    expect((await answer(modelAt(url))).errorKind).toBe("overflow");
    const plain = await serveRaw((_body, response) => response.writeHead(400).end("prompt is too long"));
    expect((await answer(modelAt(plain))).errorKind).toBe("overflow");
  });

  it("a server that is not there, a wrong URL, an echoed key: one clear line without the key", async () => {
    const url = await serveRaw((_body, response, request) =>
      response.writeHead(401).end(JSON.stringify({ error: `bad key ${request.headers.authorization}` })),
    );
    const denied = await answer(modelAt(url), { apiKey: "abcdefgh-secret" });
    expect(denied).toMatchObject({
      errorKind: "auth",
      errorMessage: 'bad key Bearer *** (HTTP 401); check the API key for "mock"',
    });
    await cleanups.pop()?.();
    expect(await answer(modelAt(url))).toMatchObject({
      errorKind: "retryable",
      errorMessage: expect.stringMatching(/refused the connection/),
    });
    expect(await answer(modelAt("nonsense"))).toMatchObject({
      errorKind: "invalid_request",
      errorMessage: expect.stringMatching(/baseUrl/),
    });
  });

  it("S6 an abort ends the answer at once as aborted, before and in it", async () => {
    const server = await serve([
      { content: [], wire: { mode: "no_response" } },
      { content: [text("Hello")], chunkSize: 1, wire: { mode: "stall", afterDeltas: 2 } },
    ]);
    const before = new AbortController();
    const waiting = answer(modelAt(server.url), { signal: before.signal });
    while (server.requests.length === 0) await nextTurn();
    before.abort();
    expect(await waiting).toMatchObject({ stopReason: "aborted", errorKind: "aborted", content: [] });

    const within = new AbortController();
    const answering = stream(modelAt(server.url), HI, { signal: within.signal });
    const events: AssistantMessageEvent[] = [];
    for await (const event of answering) {
      events.push(event);
      if (event.type === "text_delta") within.abort();
    }
    expect(events.at(-1)).toMatchObject({ type: "error", reason: "aborted", error: { content: [{ type: "text" }] } });
    const aborted = AbortSignal.abort();
    expect(await answer(modelAt(server.url), { signal: aborted })).toMatchObject({ stopReason: "aborted" });
  });

  it("R338 a cancelled answer ends its request, and leaves no listener on the signal", async () => {
    let closed = false;
    const url = await serveRaw((_body, response) => {
      response.on("close", () => {
        closed = true;
      });
      response.write(sseOf(said("Hello")));
    });
    const { signal } = new AbortController();
    const answering = stream(modelAt(url), HI, { signal });
    for await (const event of answering) if (event.type === "text_delta") answering.cancel?.();
    expect(await answering.result()).toMatchObject({ stopReason: "aborted", content: [{ text: "Hello" }] });
    await expect.poll(() => closed).toBe(true);
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  it("R332 a session's signal keeps no listener of answers that ended, well or not", async () => {
    const reset: WireReply = { content: [text("Hel")], chunkSize: 1, wire: { mode: "reset", afterDeltas: 2 } };
    const server = await serve([hello, hello, reset, { ...reset, wire: { mode: "no_end", afterDeltas: 2 } }, hello]);
    const { signal } = new AbortController();
    for (let turn = 0; turn < 5; turn += 1) await answer(modelAt(server.url), { signal });
    await expect.poll(() => getEventListeners(signal, "abort")).toHaveLength(0);
  });

  it("does not wait for ever behind the finish reason: a server that forgets to end is left", async () => {
    const url = await serveRaw((_body, response) => response.write(sseOf(said("Hello"), said("", "stop"))));
    const message = await answer(modelAt(url), { timeouts: { idleMs: 100 } });
    expect(message).toMatchObject({ stopReason: "stop", content: [{ text: "Hello" }] });
  });

  it("a connection that breaks behind the finish reason breaks nothing", async () => {
    const url = await serveRaw((_body, response) =>
      response.write(sseOf(said("Hello"), said("", "stop")), () => response.destroy()),
    );
    expect((await answer(modelAt(url))).stopReason).toBe("stop");
  });
});

describe("fields that a server refuses", () => {
  it("R033 usage is asked for; a 400 about it is answered by one request without, and remembered", async () => {
    const asked: boolean[] = [];
    const url = await serveRaw((body, response) => {
      asked.push("stream_options" in body);
      if (!asked.at(-1)) return response.end(sseOf(said("Hello", "stop")));
      return response
        .writeHead(400, { "content-type": "application/json" })
        .end(JSON.stringify({ detail: [{ loc: ["body", "stream_options"], msg: "Extra inputs are not permitted" }] }));
    });
    expect((await answer(modelAt(url))).stopReason).toBe("stop");
    expect((await answer(modelAt(url))).stopReason).toBe("stop");
    expect(asked).toEqual([true, false, false]);
  });

  it("R033 compat switches it off; any other 400 is an error at once", async () => {
    const asked: boolean[] = [];
    const url = await serveRaw((body, response) => {
      asked.push("stream_options" in body);
      response.writeHead(400).end(JSON.stringify({ error: { message: "unknown field: tools" } }));
    });
    const off = await answer(modelAt(url, { compat: { supportsUsageInStreaming: false } }));
    const on = await answer(modelAt(url));
    expect([off.errorKind, on.errorKind, asked]).toEqual(["invalid_request", "invalid_request", [false, true]]);
  });

  it.each<[string, string, Partial<Model>, StreamOptions]>([
    [
      "max_tokens",
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      {},
      {},
    ],
    [
      "max_completion_tokens",
      "Unknown parameter: 'max_completion_tokens'",
      { compat: { maxTokensField: "max_completion_tokens" } },
      {},
    ],
    [
      "temperature",
      "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
      {},
      { temperature: 0 },
    ],
    [
      "prompt_cache_key",
      "Unrecognized request argument supplied: prompt_cache_key",
      { compat: { promptCacheKeyMode: "enabled" } },
      { sessionId: "s" },
    ],
  ])("%s is left out or renamed when it is refused", async (field, refusal, more, options) => {
    const fields: string[][] = [];
    const url = await serveRaw((body, response) => {
      fields.push(Object.keys(body));
      if (field in body) response.writeHead(400).end(JSON.stringify({ error: { message: refusal } }));
      else response.end(sseOf(said("Hello", "stop")));
    });
    expect((await answer(modelAt(url, more), options)).stopReason).toBe("stop");
    expect(fields).toHaveLength(2);
  });

  it("a refusal that does not go away ends", async () => {
    let requests = 0;
    const url = await serveRaw((_body, response) => {
      requests += 1;
      response.writeHead(400).end('{"error":"stream_options, temperature unsupported, developer role"}');
    });
    expect((await answer(modelAt(url))).errorKind).toBe("invalid_request");
    expect(requests).toBe(2);
  });
});
