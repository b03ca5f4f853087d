import { afterEach, describe, expect, it } from "vitest";
import type { Message } from "../../protocol/message.ts";
import type { StreamOptions } from "../../protocol/request.ts";
import {
  reply,
  scriptedModel,
  thinking,
  toolCall,
  type WireReply,
  type WireServer,
  wireServer,
} from "../../testing.ts";
import { messagesUrl, requestHeaders, streamAnthropicMessages } from "./index.ts";

let server: WireServer;
afterEach(() => server?.close());

const user: Message = { role: "user", content: "hi", timestamp: 0 };
const tools = [{ name: "a.b c/ü", description: "d", parameters: { type: "object" } }];
const ask = async (messages: Message[], options: StreamOptions = {}) => {
  const model = scriptedModel({ api: "anthropic-messages", provider: "anthropic", id: "claude", baseUrl: server.url });
  return (await streamAnthropicMessages(model, { messages, tools }, { apiKey: "sk-ant-api-1", ...options })).result();
};
const start = async (...steps: WireReply[]) => {
  server = await wireServer({ steps, checkSignatures: true, writeSize: 7 });
};

describe("the provider over HTTP", () => {
  it("holds a conversation with thinking and calls that a strict server takes", async () => {
    await start(reply(thinking("hm", "sig"), "I look.", toolCall("a_b_c_", {})), reply("Done."));
    const first = await ask([user]);
    expect(first.stopReason).toBe("toolUse");
    const call = first.content.find((block) => block.type === "toolCall");
    const content = [{ type: "text" as const, text: "ok" }];
    const answer: Message = {
      role: "toolResult",
      toolCallId: call?.id ?? "",
      toolName: "x",
      content,
      isError: false,
      timestamp: 0,
    };
    const second = await ask([user, first, answer]);
    expect(second.content).toEqual([{ type: "text", text: "Done." }]);
    server.assertDone();
    expect(server.requests[0]?.headers).toMatchObject({
      "x-api-key": "sk-ant-api-1",
      "anthropic-version": "2023-06-01",
    });
  });

  it.each([
    [429, { type: "error", error: { type: "rate_limit_error", message: "slow" } }, "retryable"],
    [
      401,
      { type: "error", error: { type: "authentication_error", message: "invalid x-api-key sk-ant-api-1" } },
      "auth",
    ],
    [529, { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }, "retryable"],
  ])("answers status %s as an error message", async (status, body, errorKind) => {
    await start({ content: [], wire: { mode: "status", status, body } });
    const message = await ask([user]);
    expect(message).toMatchObject({ stopReason: "error", errorKind, errorDetails: { status } });
    expect(message.errorMessage).not.toContain("sk-ant-api-1");
  });

  it("S4 keeps what had arrived when the connection breaks", async () => {
    await start({ ...reply("abcdef"), chunkSize: 1, wire: { mode: "reset", afterDeltas: 3 } });
    expect(await ask([user])).toMatchObject({
      stopReason: "error",
      errorKind: "retryable",
      content: [{ text: "abc" }],
    });
  });

  it("ends as aborted at once", async () => {
    await start({ content: [], wire: { mode: "headers_only" } });
    const abort = new AbortController();
    const answer = ask([user], { signal: abort.signal });
    await expect.poll(() => server.requests.length).toBe(1);
    abort.abort();
    expect(await answer).toMatchObject({ stopReason: "aborted", errorKind: "aborted" });
    await expect.poll(() => server.requests[0]?.cutOff).toBe(true);
  });

  it("R041 warns of a tool that is left out", async () => {
    await start(reply("ok"));
    const warnings: string[] = [];
    const model = scriptedModel({ api: "anthropic-messages", baseUrl: `${server.url}/v1` });
    const bad = [{ name: "bad", description: "", parameters: { type: "string" } }];
    const onWarning = (warning: string) => warnings.push(warning);
    await (await streamAnthropicMessages(model, { messages: [user], tools: bad }, { onWarning })).result();
    expect(warnings).toEqual([expect.stringContaining('"bad"')]);
    server.assertDone();
  });
});

describe("URL and headers", () => {
  it.each([
    ["https://api.anthropic.com", "https://api.anthropic.com/v1/messages"],
    ["https://api.anthropic.com/v1/", "https://api.anthropic.com/v1/messages"],
    ["http://127.0.0.1:1/proxy", "http://127.0.0.1:1/proxy/v1/messages"],
    ["http://127.0.0.1:1/v1/messages", "http://127.0.0.1:1/v1/messages"],
  ])("%s becomes %s", (baseUrl, url) => {
    expect(messagesUrl(baseUrl)).toBe(url);
  });

  const model = scriptedModel({ id: "claude-sonnet-4-5", baseUrl: "https://api.anthropic.com", reasoning: true });

  it("sends a key in the header that it belongs in, and never two", () => {
    expect(requestHeaders(model, { apiKey: "k" })).toMatchObject({ "x-api-key": "k" });
    const bearer = requestHeaders(model, {
      apiKey: "sk-ant-oat01-x",
      thinkingLevel: "high",
      headers: { "Anthropic-Beta": "mine" },
    });
    expect(bearer).toMatchObject({
      authorization: "Bearer sk-ant-oat01-x",
      "anthropic-beta": "oauth-2025-04-20,interleaved-thinking-2025-05-14,mine",
    });
    expect(bearer).not.toHaveProperty("x-api-key");
    const proxied = requestHeaders(
      { ...model, headers: { Authorization: "Bearer p", "X-Team": "a" } },
      { apiKey: "k", headers: { "x-team": "b" } },
    );
    expect(proxied).toMatchObject({ authorization: "Bearer p", "x-team": "b" });
    expect(proxied).not.toHaveProperty("x-api-key");
    expect(requestHeaders(model, {})).not.toHaveProperty("x-api-key");
  });

  it("names the session where a router wants it", () => {
    const options = { sessionId: "s" };
    expect(requestHeaders(model, options)).not.toHaveProperty("x-session-affinity");
    expect(requestHeaders({ ...model, compat: { sendSessionAffinityHeaders: true } }, options)).toMatchObject({
      "x-session-affinity": "s",
    });
    expect(requestHeaders({ ...model, baseUrl: "https://openrouter.ai/api" }, options)).toMatchObject({
      "x-session-id": "s",
    });
  });
});
