import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { AssistantMessageEvent } from "../../protocol/events.ts";
import type { Model } from "../../protocol/model.ts";
import type { Context, StreamOptions } from "../../protocol/request.ts";
import { reply, text, thinking, toolCall } from "../../scripted/reply.ts";
import { scriptedModel } from "../../scripted/script.ts";
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

const modelAt = (url: string, more: Partial<Model> = {}): Model =>
  scriptedModel({ id: "m", api: "openai-responses", provider: "mock", baseUrl: `${url}/v1`, reasoning: true, ...more });

const HI: Context = { systemPrompt: "Be brief.", messages: [{ role: "user", content: "hi", timestamp: 1 }] };
const answer = (model: Model, options: StreamOptions = {}, context = HI) => stream(model, context, options).result();
const hello: WireReply = { content: [text("Hello")] };
const DONE = `data: ${JSON.stringify({ type: "response.completed", response: { output: [{ type: "message", content: [{ type: "output_text", text: "Hello" }] }] } })}\n\n`;

describe("openai-responses over HTTP", () => {
  it("S1 streams thinking, text and calls with a partial on each event", async () => {
    const content = [
      thinking("hm"),
      text("Let me look"),
      toolCall("read", { path: "a" }),
      toolCall("read", { path: "b" }),
    ];
    const server = await serve([{ content, usage: { input: 1, output: 2, cacheRead: 3 } }], { writeSize: 7 });
    const events: AssistantMessageEvent[] = [];
    const answering = stream(modelAt(server.url), HI, {});
    for await (const event of answering) events.push(event);
    const message = await answering.result();
    expect(message).toMatchObject({
      stopReason: "toolUse",
      responseId: "resp_0",
      usage: { input: 1, output: 2, cacheRead: 3 },
    });
    expect(message.content).toMatchObject([
      { type: "thinking", thinking: "hm", thinkingSignature: expect.stringContaining("encrypted_content") },
      { type: "text", text: "Let me look" },
      { type: "toolCall", name: "read", arguments: { path: "a" } },
      { type: "toolCall", name: "read", arguments: { path: "b" } },
    ]);
    for (const event of events.slice(0, -1)) expect(event).toHaveProperty("partial.role", "assistant");
    expect(server.requests[0]?.path).toBe("/v1/responses");
    server.assertDone();
  });

  it("R031 O3 continues with reasoning, calls and results; each request begins with the one before", async () => {
    const server = await serve(
      (_request, index) => reply(thinking(`t${index}`), `answer ${index}`, toolCall("x", { index })),
      { checkSignatures: true },
    );
    const tools = [{ name: "x", description: "", parameters: { type: "object" } }];
    const context: Context = { ...HI, tools, messages: [...HI.messages] };
    for (let turn = 0; turn < 4; turn++) {
      const message = await answer(modelAt(server.url), { sessionId: "s1" }, context);
      context.messages.push(message);
      for (const block of message.content) {
        if (block.type !== "toolCall") continue;
        const content = [text("ok")];
        const head = { role: "toolResult" as const, toolCallId: block.id, toolName: block.name };
        context.messages.push({ ...head, content, isError: false, timestamp: 1 });
      }
    }
    const heads = server.requests.map(({ raw }) => raw.slice(0, raw.lastIndexOf('],"max_output_tokens"')));
    for (const [turn, head] of heads.slice(1).entries()) expect(head.startsWith(heads[turn] ?? "?")).toBe(true);
    expect(server.requests[3]?.body.input).toHaveLength(1 + 3 * 4);
    server.assertDone();
  });

  it("R030 sends the key to the server of the model, and headers of model, session and caller", async () => {
    const server = await serve([hello, hello, hello]);
    const model = modelAt(server.url, { headers: { "X-A": "model", "X-B": "model" } });
    await answer(model, { apiKey: " key ", headers: { "x-b": "caller" }, sessionId: "s1" });
    expect(server.requests[0]?.headers).toMatchObject({ authorization: "Bearer key", "x-a": "model", "x-b": "caller" });
    for (const format of ["openai", "openrouter"]) {
      await answer(modelAt(server.url, { compat: { sessionAffinityFormat: format } }), { sessionId: "s1" });
    }
    expect(server.requests[1]?.headers).toMatchObject({ "session-id": "s1", "x-client-request-id": "s1" });
    expect(server.requests[2]?.headers).toMatchObject({ "x-session-id": "s1" });
    expect(server.requests[2]?.headers.authorization).toBeUndefined();
  });

  it("E1 asks nobody without the key that a server is known to need", async () => {
    for (const baseUrl of [
      "https://api.openai.com/v1",
      "https://x.openai.azure.com/openai/v1",
      "https://openrouter.ai/api/v1",
    ]) {
      expect(await answer(modelAt("", { baseUrl }))).toMatchObject({ errorKind: "auth", content: [] });
    }
  });
});

describe("failures over HTTP", () => {
  it("R019 an error inside a 200 is an error, before and after text, and what came is kept", async () => {
    const error = { code: "server_error", message: "Overloaded" };
    const server = await serve([
      { content: [text("Hello")], chunkSize: 1, wire: { mode: "error", error } },
      { content: [text("Hello")], chunkSize: 1, wire: { mode: "error", afterDeltas: 3, error } },
      { content: [text("Hel")], errorMessage: "An error occurred while processing your request" },
    ]);
    for (const kept of ["", "Hel", "Hel"]) {
      const message = await answer(modelAt(server.url));
      expect(message).toMatchObject({ stopReason: "error", errorKind: "retryable" });
      expect(message.content.map((block) => (block.type === "text" ? block.text : "")).join("")).toBe(kept);
    }
  });

  it.each<[string, WireReply]>([
    ["a reset", { content: [text("Hello")], chunkSize: 1, wire: { mode: "reset", afterDeltas: 3 } }],
    ["half a frame", { content: [text("Hello")], chunkSize: 1, wire: { mode: "half_frame", afterDeltas: 3 } }],
    ["a clean end too early", { content: [text("Hello")], chunkSize: 1, wire: { mode: "no_end", afterDeltas: 3 } }],
  ])("R023 S4 %s is an error and not the answer; what came is kept apart from it", async (_title, step) => {
    const server = await serve([step]);
    const message = await answer(modelAt(server.url));
    expect(message).toMatchObject({ stopReason: "error", errorKind: "retryable" });
    expect(message.content).toMatchObject([{ type: "text", text: "Hel" }]);
  });

  it("R206 an answer whose items are all done is whole without the last event", async () => {
    const server = await serve([{ content: [text("Hello")], wire: { mode: "no_end", afterDeltas: 9 } }]);
    const message = await answer(modelAt(server.url));
    expect(message).toMatchObject({ stopReason: "stop", content: [{ type: "text", text: "Hello" }] });
  });

  it("S6 an abort in the answer ends it at once as aborted", async () => {
    const server = await serve([{ content: [text("Hello")], chunkSize: 1, wire: { mode: "stall", afterDeltas: 2 } }]);
    const abort = new AbortController();
    const events: AssistantMessageEvent[] = [];
    for await (const event of stream(modelAt(server.url), HI, { signal: abort.signal })) {
      events.push(event);
      if (event.type === "text_delta") abort.abort();
    }
    expect(events.at(-1)).toMatchObject({ type: "error", reason: "aborted", error: { content: [{ type: "text" }] } });
  });

  it("does not wait behind the last event: a server that forgets to end is left", async () => {
    const url = await serveRaw((_body, response) => response.write(DONE));
    expect(await answer(modelAt(url))).toMatchObject({ stopReason: "stop", content: [{ text: "Hello" }] });
  });
});

describe("fields that a server refuses", () => {
  const refusal = (message: string, more: object = {}) =>
    JSON.stringify({ error: { message, type: "invalid_request_error", param: null, code: null, ...more } });

  it.each<[string, string, string, number, Partial<Model>]>([
    ["summary", '"summary":"auto"', "Your organization must be verified to generate reasoning summaries.", 400, {}],
    ["include", '"include"', "Encrypted content is not supported with this model.", 400, {}],
    ["include", '"include"', "Unknown parameter: 'include'", 422, {}],
    ["effort", '"reasoning":', "Unsupported parameter: 'reasoning.effort' is not supported with this model.", 400, {}],
    ["effort", '"reasoning":', `Extra inputs are not permitted: ["body", "reasoning"]`, 422, {}],
    ["prompt_cache_key", "prompt_cache_key", "Unrecognized request argument supplied: prompt_cache_key", 400, {}],
    ["limit", "max_output_tokens", "Unsupported parameter: max_output_tokens", 400, {}],
    [
      "temperature",
      "temperature",
      "Unsupported parameter: 'temperature' is not supported with this model.",
      400,
      { reasoning: false },
    ],
  ])(
    "R033 %s is left out when it is refused, in one more request, and stays out",
    async (_title, field, message, status, more) => {
      const asked: boolean[] = [];
      const url = await serveRaw((body, response) => {
        const raw = JSON.stringify(body);
        asked.push(raw.includes(field));
        if (raw.includes(field)) response.writeHead(status).end(refusal(message));
        else response.end(DONE);
      });
      const options: StreamOptions = { thinkingLevel: "low", sessionId: "s", temperature: 1 };
      for (let i = 0; i < 2; i++) expect((await answer(modelAt(url, more), options)).stopReason).toBe("stop");
      expect(asked).toEqual([true, false, false]);
    },
  );

  it.each([
    [400, "The encrypted content gAAA could not be verified.", { code: "invalid_encrypted_content" }],
    [404, "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.", {}],
    [400, "Item 'rs_1' of type 'reasoning' was provided without its required following item.", {}],
    [400, "Invalid type for 'input'.", { code: "invalid_union", param: "input" }],
  ])("R029 reasoning that a server does not know again is left out: %s %s", async (status, message, more) => {
    const item = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "of another key" };
    const url = await serveRaw((body, response) => {
      if (JSON.stringify(body).includes("of another key")) response.writeHead(status).end(refusal(message, more));
      else response.end(DONE);
    });
    const model = modelAt(url);
    const said = await answer(model);
    const own = [{ type: "thinking" as const, thinking: "hm", thinkingSignature: JSON.stringify(item) }, text("yes")];
    const context = { messages: [...HI.messages, { ...said, content: own }, ...HI.messages] };
    expect((await answer(model, {}, context)).stopReason).toBe("stop");
  });

  it("ids of messages that a server does not want are left out", async () => {
    const url = await serveRaw((body, response) => {
      const doubled = JSON.stringify(body).split('"msg_1"').length > 2;
      if (doubled) response.writeHead(400).end(refusal("Duplicate item found with id msg_1. Remove duplicate items."));
      else response.end(DONE.replace('"message"', '"message","id":"msg_1"'));
    });
    const context: Context = { messages: [...HI.messages] };
    for (let turn = 0; turn < 4; turn++) {
      const message = await answer(modelAt(url), {}, context);
      expect(message).toMatchObject({ stopReason: "stop", content: [{ textSignature: '{"v":1,"id":"msg_1"}' }] });
      context.messages.push(message, ...HI.messages);
    }
  });

  it.each([
    "Invalid schema for function 'read': the description must include a text, which is not supported",
    "Reasoning about this is not allowed",
    "Invalid value for the field 'reasoning_mode' of the extra tools",
  ])("any other refusal is an error at once: %s", async (message) => {
    let requests = 0;
    const url = await serveRaw((_body, response) => {
      requests++;
      response.writeHead(400).end(refusal(message));
    });
    expect(await answer(modelAt(url), { thinkingLevel: "low" })).toMatchObject({ errorKind: "invalid_request" });
    expect(requests).toBe(1);
  });

  it("E1 a server without this API gets the remedy shown, one without the model does not", async () => {
    const url = await serveRaw((body, response) =>
      response.writeHead(404).end(body.model === "m" ? "404 page not found" : refusal("The model `n` does not exist")),
    );
    expect((await answer(modelAt(url))).errorMessage).toMatch(
      /baseUrl of "mock"; .*"openai-completions" in models\.json/,
    );
    expect((await answer(modelAt(url, { id: "n" }))).errorMessage).not.toContain("openai-completions");
  });
});
