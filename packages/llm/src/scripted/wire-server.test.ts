import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import {
  reply,
  thinking,
  toolCall,
  type WireReply,
  type WireServer,
  type WireServerOptions,
  wireServer,
} from "../testing.ts";

let server: WireServer;
afterEach(() => server.close());

const start = async (steps: WireServerOptions["steps"], more: Partial<WireServerOptions> = {}) => {
  server = await wireServer({ steps, ...more });
};
const post = (path: string, body: unknown) => fetch(server.url + path, { method: "POST", body: JSON.stringify(body) });
const user = { role: "user", content: "hi" };
const chat = (more: object = {}) =>
  post("/v1/chat/completions", { model: "m", stream: true, messages: [user], ...more });
const messages = () => post("/v1/messages", { model: "m", stream: true, max_tokens: 9, messages: [user] });
const responses = (more: object = {}) =>
  post("/v1/responses", { model: "m", stream: true, store: false, input: [user], ...more });
const dataLines = (text: string) =>
  text.split("\n").flatMap((line) => (line.startsWith("data: {") ? [JSON.parse(line.slice(6))] : []));

const source: WireReply = { ...reply(thinking("hm", "sig"), "hello", toolCall("read", { path: "ü" })), chunkSize: 2 };

describe("the wire server", () => {
  it("speaks chat completions", async () => {
    await start([{ ...source, usage: { input: 100, output: 20, cacheRead: 900 } }]);
    const chunks = dataLines(await (await chat({ stream_options: { include_usage: true } })).text());
    const deltas = chunks.flatMap((chunk) => chunk.choices.map((choice: { delta: object }) => choice.delta));
    expect(deltas.map((delta) => delta.reasoning_content ?? "").join("")).toBe("hm");
    expect(deltas.map((delta) => delta.content ?? "").join("")).toBe("hello");
    const calls = deltas.flatMap((delta) => delta.tool_calls ?? []);
    expect(calls[0]).toMatchObject({ index: 0, id: "call_1_3", function: { name: "read" } });
    expect(calls.map((part) => part.function.arguments).join("")).toBe('{"path":"ü"}');
    expect(chunks.at(-2).choices[0].finish_reason).toBe("tool_calls");
    expect(chunks.at(-1).usage).toMatchObject({ prompt_tokens: 1000, prompt_tokens_details: { cached_tokens: 900 } });
    server.assertDone();
  });

  it("speaks Anthropic messages, in writes of one byte", async () => {
    await start([source], { writeSize: 1 });
    const text = await (await messages()).text();
    const events = dataLines(text);
    expect(events.map((event) => event.type).filter((type) => !type.includes("delta"))).toEqual([
      ...["message_start", "ping", "content_block_start", "content_block_stop", "content_block_start"],
      ...["content_block_stop", "content_block_start", "content_block_stop", "message_stop"],
    ]);
    const input = events.map((event) => event.delta?.partial_json ?? "").join("");
    expect(JSON.parse(input)).toEqual({ path: "ü" });
    expect(events.some((event) => event.delta?.signature === "sig")).toBe(true);
    expect(events.at(-2).delta.stop_reason).toBe("tool_use");
  });

  it("speaks the Responses API, in writes of thirty bytes", async () => {
    await start([{ ...source, usage: { input: 100, output: 20, cacheRead: 900 } }], { writeSize: 30 });
    const events = dataLines(await (await responses()).text());
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    const deltas = (type: string) => events.map((event) => (event.type === type ? event.delta : "")).join("");
    expect(deltas("response.reasoning_summary_text.delta")).toBe("hm");
    expect(deltas("response.output_text.delta")).toBe("hello");
    expect(deltas("response.function_call_arguments.delta")).toBe('{"path":"ü"}');
    expect(events.at(-1)).toMatchObject({
      type: "response.completed",
      response: {
        status: "completed",
        output: [{ encrypted_content: "sig" }, { type: "message" }, { call_id: "call_1_3", arguments: '{"path":"ü"}' }],
        usage: { input_tokens: 1000, input_tokens_details: { cached_tokens: 900 }, output_tokens: 20 },
      },
    });
    await server.close();
    const cut = { rawStopReason: "max_output_tokens" };
    await start([{ ...source, ...cut }, { ...source, errorMessage: "no" }, reply("ok")]);
    const last = async () => dataLines(await (await responses()).text()).at(-1);
    expect(await last()).toMatchObject({
      type: "response.incomplete",
      response: { incomplete_details: { reason: "max_output_tokens" } },
    });
    expect(await last()).toMatchObject({ type: "response.failed", response: { error: { message: "no" } } });
    expect(await (await responses({ store: true })).text()).toContain("store");
  });

  it("answers an invalid request with 400, remembers it, and does not use a step for it", async () => {
    await start([reply("ok")]);
    const bad = await chat({ messages: [{ role: "tool", tool_call_id: "x", content: "y" }] });
    expect(bad.status).toBe(400);
    expect(await bad.text()).toContain("no call directly before");
    expect((await chat()).status).toBe(200);
    expect(server.requests.map((request) => request.index)).toEqual([0, 0]);
    expect(() => server.assertDone()).toThrow("request 1: messages[0]");
  });

  it("complains about a request too many and about a step too many", async () => {
    await start([reply("ok")]);
    expect(() => server.assertDone()).toThrow("0 of 1 steps");
    await (await chat()).text();
    expect((await chat()).status).toBe(400);
    expect(() => server.assertDone()).toThrow("Unexpected request 2");
  });

  it("takes half a request of a client that is gone for none", async () => {
    await start([reply("hello")]);
    await new Promise<void>((resolve) => {
      const socket = connect(Number(new URL(server.url).port), "127.0.0.1", () => {
        socket.write("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\nhalf", () =>
          socket.destroy(),
        );
      });
      socket.on("close", () => resolve());
    });
    expect(await (await chat()).text()).toContain("hello");
    expect(server.requests).toHaveLength(1);
    server.assertDone();
  });

  it("lists models and refuses other paths", async () => {
    await start([], { models: ["a"] });
    const listed = await (await fetch(`${server.url}/v1/models`)).json();
    expect(listed).toMatchObject({ data: [{ id: "a", object: "model" }] });
    expect((await fetch(`${server.url}/nope`)).status).toBe(404);
  });

  it("gives signatures out and knows them again", async () => {
    await start([source, reply("ok")], { checkSignatures: true });
    await (await messages()).text();
    const replay = (signature: string) => ({
      ...{ model: "m", max_tokens: 9 },
      messages: [
        user,
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "hm", signature },
            { type: "text", text: "x" },
          ],
        },
        user,
      ],
    });
    expect((await post("/messages", replay("foreign"))).status).toBe(400);
    expect((await post("/messages", replay("sig"))).status).toBe(200);
  });
});

describe("a fault on the wire", () => {
  const answer = async (wire: NonNullable<WireReply["wire"]>) => {
    await start([{ ...reply("abcdef"), chunkSize: 1, wire }]);
    return chat();
  };

  it("status sends status, headers and body", async () => {
    const headers = { "retry-after": "2", "content-type": "text/html" };
    const response = await answer({ mode: "status", status: 429, body: "<h1>slow</h1>", headers });
    expect([response.status, response.headers.get("retry-after"), await response.text()]).toEqual([
      429,
      "2",
      "<h1>slow</h1>",
    ]);
  });

  it("reset tears the connection down after n deltas", async () => {
    const response = await answer({ mode: "reset", afterDeltas: 2 });
    const read = async () => {
      let text = "";
      const decoder = new TextDecoder();
      try {
        for await (const part of response.body ?? []) text += decoder.decode(part);
      } catch {
        return { text, torn: true };
      }
      return { text, torn: false };
    };
    const { text, torn } = await read();
    expect(torn).toBe(true);
    expect(dataLines(text)).toHaveLength(3);
  });

  it("half_frame, no_end and error end the body early", async () => {
    const half = await (await answer({ mode: "half_frame", afterDeltas: 1 })).text();
    expect(half).not.toMatch(/\n\n$/);
    await server.close();
    const open = await (await answer({ mode: "no_end", afterDeltas: 9 })).text();
    expect(dataLines(open)).toHaveLength(7);
    await server.close();
    const error = await (await answer({ mode: "error", error: { message: "busy" } })).text();
    expect(dataLines(error).at(-1)).toEqual({ error: { message: "busy" } });
  });

  it("headers_only and stall keep the connection; a client that leaves is noticed", async () => {
    await start([{ ...reply("abc"), chunkSize: 1, wire: { mode: "stall", afterDeltas: 1 } }]);
    const abort = new AbortController();
    const body = JSON.stringify({ model: "m", messages: [user] });
    const response = await fetch(`${server.url}/chat/completions`, { method: "POST", body, signal: abort.signal });
    const reader = response.body?.getReader();
    await reader?.read();
    abort.abort();
    await expect(reader?.read()).rejects.toThrow();
    await expect.poll(() => server.requests[0]?.cutOff).toBe(true);
  });
});
