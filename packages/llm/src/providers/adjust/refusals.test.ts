import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { AssistantContent, Message } from "../../protocol/message.ts";
import type { Model } from "../../protocol/model.ts";
import type { StreamOptions } from "../../protocol/request.ts";
import { noUsage } from "../../stream/usage.ts";
import { scriptedModel } from "../../testing.ts";
import { stream } from "../table.ts";
import { forgetAdjustments } from "./adjustment-memory.ts";

type Body = Record<string, unknown> & { messages?: { content: unknown; [field: string]: unknown }[] };
type Api = "openai-completions" | "anthropic-messages" | "openai-responses";

const frame = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const DONE: Record<Api, string> = {
  "openai-completions": frame({ choices: [{ index: 0, delta: { content: "ok" }, finish_reason: "stop" }] }),
  "anthropic-messages": [
    { type: "message_start", message: { id: "m", usage: { input_tokens: 1, output_tokens: 1 } } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "ok" } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
    { type: "message_stop" },
  ]
    .map(frame)
    .join(""),
  "openai-responses": frame({
    type: "response.completed",
    response: {
      id: "r",
      status: "completed",
      output: [{ type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text: "ok" }] }],
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  }),
};

/** A signature as other programs may have stored it: JSON that can be read and not be written again. */
const deepSignature = () =>
  `{"type":"reasoning","id":"r","encrypted_content":"e","x":${"[".repeat(9000)}${"]".repeat(9000)}}`;

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  forgetAdjustments();
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

interface Refused {
  status?: number;
  body: unknown;
}

/** A server that refuses a request for what it says, and answers it else. */
async function serve(api: Api, refuse: (body: Body, headers: Record<string, unknown>) => Refused | undefined) {
  const bodies: Body[] = [];
  const server = createServer(async (request, response) => {
    let raw = "";
    for await (const chunk of request) raw += chunk;
    const body = JSON.parse(raw) as Body;
    bodies.push(body);
    const refused = refuse(body, request.headers);
    if (!refused) return response.end(DONE[api]);
    const text = typeof refused.body === "string" ? refused.body : JSON.stringify(refused.body);
    response.writeHead(refused.status ?? 400, { "content-type": "application/json" }).end(text);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return { bodies, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
}

const modelAt = (api: Api, baseUrl: string, more: Partial<Model> = {}): Model =>
  scriptedModel({ id: "m", provider: "mock", api, baseUrl, reasoning: true, maxTokens: 32_000, ...more });
const user = (content: string): Message => ({ role: "user", content, timestamp: 1 });
const ALL: StreamOptions = { thinkingLevel: "minimal", temperature: 0.5, sessionId: "s", apiKey: "k" };

/** Two prompts, and what the server and the user got to see of them. */
async function twice(model: Model, bodies: Body[], messages: Message[] = [user("hi")], options = ALL) {
  const warnings: string[] = [];
  const ask = () => stream(model, { messages }, { ...options, onWarning: (text) => warnings.push(text) }).result();
  const first = await ask();
  const requests = bodies.length;
  const second = await ask();
  return { first, second, requests, later: bodies.length - requests, warnings };
}

const said = (message: string, more: object = {}) => ({ error: { message, type: "invalid_request_error", ...more } });
const has = (path: string) => (body: Body) => {
  const [name = "", inner] = path.split(".");
  const value = body[name] as Record<string, unknown> | undefined;
  return inner === undefined ? value !== undefined : value?.[inner] !== undefined;
};

describe("a field that a server refuses", () => {
  const chat = "openai-completions";
  const anthropic = "anthropic-messages";
  const responses = "openai-responses";
  const xai: Partial<Model> = { compat: { thinkingFormat: "deepseek" } };
  const adaptive: Partial<Model> = { compat: { forceAdaptiveThinking: true } };

  it.each<[Api, string, unknown, Partial<Model>?]>([
    [chat, "reasoning_effort", said("Unsupported parameter: 'reasoning_effort' is not supported with this model.")],
    [chat, "reasoning_effort", said("reasoning_effort is not supported by this model", { param: "reasoning_effort" })],
    [
      chat,
      "reasoning_effort",
      said('Invalid JSON payload received. Unknown name "reasoning_effort": Cannot find field.'),
    ],
    [chat, "reasoning_effort", said('"m" does not support thinking')],
    [chat, "reasoning_effort", 'json: unknown field "reasoning_effort"'],
    [
      chat,
      "reasoning_effort",
      {
        detail: [{ type: "extra_forbidden", loc: ["body", "reasoning_effort"], msg: "Extra inputs are not permitted" }],
      },
    ],
    [
      chat,
      "stream_options",
      "Failed to deserialize the JSON body: unknown field `stream_options`, expected one of `model`, `temperature`, `max_tokens`",
    ],
    [chat, "temperature", said("`temperature` may only be set to 1 when thinking is enabled")],
    [
      chat,
      "temperature",
      {
        object: "error",
        message:
          "[{'type': 'extra_forbidden', 'loc': ('body', 'temperature'), 'msg': 'Extra inputs are not permitted'}]",
        code: 400,
      },
    ],
    [chat, "thinking", said("thinking: Extra inputs are not permitted"), xai],
    [chat, "max_tokens", said("Unknown field: max_tokens; also max_completion_tokens is unknown")],
    [anthropic, "thinking", said("thinking: Extra inputs are not permitted")],
    [anthropic, "thinking", said("Thinking is not supported by this model", { param: "thinking" })],
    [anthropic, "output_config", said("output_config: Extra inputs are not permitted"), adaptive],
    [
      anthropic,
      "thinking.display",
      said("thinking.adaptive.display: Extra inputs are not permitted", { param: "thinking.display" }),
      adaptive,
    ],
    [anthropic, "temperature", said("`temperature` is deprecated for this model."), { reasoning: false }],
    [responses, "reasoning", said("Unsupported parameter: 'reasoning.effort' is not supported with this model.")],
    [responses, "reasoning.summary", said("Unknown parameter: 'reasoning.summary'.", { param: "reasoning.summary" })],
    [responses, "include", said("Unknown parameter: 'include'")],
    [responses, "store", said("Unsupported parameter: store")],
    [responses, "prompt_cache_key", said("Unrecognized request argument supplied: prompt_cache_key")],
    [responses, "max_output_tokens", { detail: "Unsupported parameter: max_output_tokens" }],
  ])("R210 %s: %s is left out in one more request, and from then on: %j", async (api, field, body, more) => {
    const { bodies, url } = await serve(api, (sent) => (has(field)(sent) ? { body } : undefined));
    const { first, second, later, warnings } = await twice(modelAt(api, url, more), bodies);
    expect([first.errorMessage, second.errorMessage, later]).toEqual([undefined, undefined, 1]);
    expect(bodies.length).toBeLessThanOrEqual(4);
    expect(warnings[0]).toMatch(/^mock\/m .*\.$/);
    expect(new Set(warnings).size).toBe(warnings.length);
  });

  it.each<[Api, string, string, number, unknown, Partial<Model>?]>([
    [
      chat,
      "max_tokens",
      "at most",
      8192,
      said(
        "max_tokens is too large: 32000. This model supports at most 8192 completion tokens, whereas you provided 32000.",
      ),
    ],
    [chat, "max_tokens", "range", 8192, said("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]")],
    [
      chat,
      "max_tokens",
      "range",
      8192,
      said("<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]"),
    ],
    [
      chat,
      "max_tokens",
      "less than or equal",
      8192,
      said(
        "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model",
      ),
    ],
    [chat, "max_tokens", "limit", 8192, said("The max_tokens parameter exceeds the model limit: 8192")],
    [chat, "max_tokens", "under another name, at most", 8192, said("`max_new_tokens` cannot exceed 8,192")],
    [
      anthropic,
      "max_tokens",
      "under another name",
      8192,
      said("maxOutputTokens: must be between 1 and 8192 inclusive"),
    ],
    [responses, "max_output_tokens", "under another name", 8192, said("Range of max_tokens should be [1, 8192]")],
    [
      responses,
      "max_output_tokens",
      "under another name",
      8192,
      said("max_tokens too large: 32000. Maximum allowed: 8192"),
    ],
    [
      anthropic,
      "max_tokens",
      "above",
      8192,
      said("max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for m"),
    ],
    [
      responses,
      "max_output_tokens",
      "at most",
      8192,
      said(
        "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 8192, but got 32000 instead.",
      ),
    ],
    [chat, "temperature", "between", 1, said("temperature: must be between 0 and 1")],
  ])("R210 %s: %s is kept within the limit (%s %i)", async (api, field, _how, limit, body, more) => {
    const refuse = (sent: Body) => (Number(sent[field]) > limit ? { body } : undefined);
    const { bodies, url } = await serve(api, refuse);
    const options = { ...ALL, maxTokens: 32_000, temperature: 1.5 };
    const model = modelAt(api, url, { ...more, reasoning: false, contextWindow: 1_000_000 });
    const { first, second, requests, later, warnings } = await twice(model, bodies, undefined, options);
    expect([first.errorMessage, second.errorMessage, requests, later]).toEqual([undefined, undefined, 2, 1]);
    expect(bodies.map((sent) => sent[field]).slice(1)).toEqual([limit, limit]);
    expect(warnings).toEqual([expect.stringContaining(String(limit))]);
  });

  it.each<[Api, string, string, unknown, Partial<Model>?]>([
    [
      chat,
      "reasoning_effort",
      "low",
      said(
        "Unsupported value: 'minimal' is not supported with this model. Supported values are: 'low', 'medium', and 'high'.",
        { param: "reasoning_effort" },
      ),
    ],
    [chat, "reasoning_effort", "default", said("`reasoning_effort` must be one of `none` or `default`")],
    [
      chat,
      "reasoning_effort",
      "low",
      { detail: [{ loc: ["body", "reasoning_effort"], msg: "Input should be 'low', 'medium' or 'high'" }] },
    ],
    [
      anthropic,
      "output_config.effort",
      "medium",
      said("This model does not support effort level 'low'. Supported levels: high, max, medium"),
      adaptive,
    ],
    [
      responses,
      "reasoning.effort",
      "low",
      said("Invalid value: 'minimal'. Supported values are: 'low', 'medium', and 'high'.", {
        param: "reasoning.effort",
      }),
    ],
    [
      responses,
      "reasoning.summary",
      "detailed",
      said("Unsupported value: 'auto' is not supported with this model. Supported values are: 'detailed'.", {
        param: "reasoning.summary",
      }),
    ],
  ])("R210 %s: %s becomes a word that the server takes: %s", async (api, field, word, body, more) => {
    const [name = "", inner = ""] = field.split(".");
    const valueIn = (sent: Body) => (inner ? (sent[name] as Record<string, unknown>)?.[inner] : sent[name]);
    const { bodies, url } = await serve(api, (sent) => (valueIn(sent) === word ? undefined : { body }));
    const { first, second, requests, later } = await twice(modelAt(api, url, more), bodies);
    expect([first.errorMessage, second.errorMessage, requests, later]).toEqual([undefined, undefined, 2, 1]);
  });

  it.each<[Api, string, string, unknown, Partial<Model>?]>([
    [anthropic, '"cache_control":', "", said("messages.0.content.0.cache_control: Extra inputs are not permitted")],
    [
      anthropic,
      '"cache_control":',
      "",
      { detail: [{ loc: ["body", "system", 0, "cache_control"], msg: "Extra inputs are not permitted" }] },
    ],
    [
      chat,
      '"cache_control":',
      "",
      said("Unknown name \"cache_control\" at 'messages[0].content[0]': Cannot find field."),
      { compat: { cacheControlFormat: "anthropic" } },
    ],
    [
      chat,
      '"role":"developer"',
      '"role":"system"',
      said("messages[0].role: unknown variant `developer`, expected one of `system`, `user`"),
      { compat: { supportsDeveloperRole: true } },
    ],
    [
      chat,
      '"role":"developer"',
      '"role":"system"',
      { detail: [{ loc: ["body", "messages", 0, "role"], msg: "Input should be 'system' or 'user'" }] },
      { compat: { supportsDeveloperRole: true } },
    ],
    [
      anthropic,
      '"type":"adaptive"',
      '"type":"enabled"',
      said("thinking.type: Input should be 'enabled' or 'disabled'"),
      adaptive,
    ],
    [
      anthropic,
      '"type":"enabled"',
      '"type":"adaptive"',
      said(
        '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
      ),
    ],
    [responses, '"strict":', "", said("Unknown parameter: 'tools[0].strict'.")],
  ])("R210 %s: %s is sent in another form: %s", async (api, refused, wanted, body, more) => {
    const refuse = (sent: Body) => (JSON.stringify(sent).includes(refused) ? { body } : undefined);
    const { bodies, url } = await serve(api, refuse);
    const tools = [{ name: "read", description: "Reads.", parameters: { type: "object", properties: {} } }];
    const model = modelAt(api, url, more);
    const ask = () => stream(model, { systemPrompt: "Be brief.", messages: [user("hi")], tools }, ALL).result();
    expect([(await ask()).errorMessage, bodies.length]).toEqual([undefined, 2]);
    expect([(await ask()).errorMessage, bodies.length]).toEqual([undefined, 3]);
    expect(JSON.stringify(bodies[2])).toContain(wanted);
  });

  it("R210 refused one after the other, all go; what is refused for ever ends after a few tries", async () => {
    const order = ["stream_options", "reasoning_effort", "temperature", "prompt_cache_key"];
    const { bodies, url } = await serve(chat, (sent) => {
      const field = order.find((name) => name in sent);
      return field ? { body: said(`Unknown parameter: '${field}'`) } : undefined;
    });
    const model = modelAt(chat, url, { compat: { promptCacheKeyMode: "enabled" } });
    const { first, later, warnings } = await twice(model, bodies);
    expect([first.errorMessage, later, warnings.length]).toEqual([undefined, 1, 4]);

    let count = 0;
    const stubborn = await serve(chat, () => ({ body: said(`max_tokens must be at most ${900 - count++}`) }));
    const failed = await stream(modelAt(chat, stubborn.url), { messages: [user("hi")] }, ALL).result();
    expect(failed).toMatchObject({ stopReason: "error", errorKind: "invalid_request" });
    expect(stubborn.bodies.length).toBeLessThanOrEqual(8);
  });

  it.each([
    said("Invalid schema for function 'read': temperature is a number"),
    said("messages: at least one message is required"),
    said("The model `m` does not exist"),
    said("Could not process image"),
    said("Incorrect API key provided"),
  ])("R210 a refusal of anything else stands at once: %j", async (body) => {
    const { bodies, url } = await serve(chat, () => ({ body }));
    const options = { apiKey: "k", thinkingLevel: "low" } as const;
    const failed = await stream(modelAt(chat, url), { messages: [user("hi")] }, options).result();
    expect([failed.stopReason, bodies.length]).toEqual(["error", 1]);
  });

  it.each([
    (limit: number) =>
      `input length and \`max_tokens\` exceed context limit: 20000 + ${limit} > 40000, decrease input length or \`max_tokens\` and try again`,
    (limit: number) =>
      `This model's maximum context length is 40000 tokens. However, you requested ${20000 + limit} tokens (20000 in the messages, ${limit} in the completion). Please reduce the length of the messages or completion.`,
    (limit: number) =>
      `'max_tokens' or 'max_completion_tokens' is too large: ${limit}. This model's maximum context length is 40000 tokens and your request has 20000 input tokens (${limit} > 40000 - 20000)`,
    (limit: number) =>
      `\`inputs\` tokens + \`max_new_tokens\` must be <= 40000. Given: 20000 \`inputs\` tokens and ${limit} \`max_new_tokens\``,
  ])("R210 prompt and limit together over the window: a shorter answer is asked for (%#)", async (text) => {
    const { bodies, url } = await serve(chat, (sent) =>
      Number(sent.max_tokens) + 20_000 > 40_000 ? { body: said(text(Number(sent.max_tokens))) } : undefined,
    );
    const { first, requests } = await twice(modelAt(chat, url, { contextWindow: 1_000_000 }), bodies);
    expect([first.errorMessage, requests]).toEqual([undefined, 2]);
    expect(Number(bodies[1]?.max_tokens)).toBeGreaterThan(19_000);
  });
});

const answer = (api: string, content: AssistantContent[], more: object = {}): Message => ({
  ...{ role: "assistant", api, provider: "mock", model: "m", content, usage: noUsage() },
  ...{ stopReason: "stop", timestamp: 1, ...more },
});
const read = (id: string, more: object = {}): AssistantContent => ({
  ...{ type: "toolCall", id, name: "read", arguments: {}, ...more },
});
const result = (toolCallId: string): Message => ({
  ...{ role: "toolResult", toolCallId, toolName: "read", content: [{ type: "text", text: "out" }] },
  ...{ isError: false, timestamp: 1 },
});

describe("a conversation that a server refuses", () => {
  it.each([
    "thinking is enabled but reasoning_content is missing in assistant tool call message at index 1",
    "Missing `reasoning_content` field in the assistant message at message index 1.",
    "The reasoning_content in the thinking mode must be passed back to the API.",
  ])("R211 reasoning_content that is missed is sent empty, remembered for the model: %s", async (text) => {
    const { bodies, url } = await serve("openai-completions", ({ messages = [] }) =>
      messages.some((message) => message.role === "assistant" && message.reasoning_content === undefined)
        ? { body: said(text) }
        : undefined,
    );
    const messages = [
      user("hi"),
      answer("anthropic-messages", [{ type: "thinking", thinking: "hm", thinkingSignature: "s" }, read("call_1")]),
      result("call_1"),
    ];
    const model = modelAt("openai-completions", url, { reasoning: false });
    const { first, second, requests, later, warnings } = await twice(model, bodies, messages);
    expect([first.errorMessage, second.errorMessage, requests, later]).toEqual([undefined, undefined, 2, 1]);
    expect(bodies[1]?.messages?.[1]?.reasoning_content).toBe("");
    expect(warnings).toHaveLength(1);
  });

  it.each<[string, string]>([
    [
      "reasoning_content",
      "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]",
    ],
    ["reasoning", "messages.1.assistant.reasoning: Extra inputs are not permitted"],
  ])("R210 thinking that a chat server does not take back in %s is left out", async (field, text) => {
    const { bodies, url } = await serve("openai-completions", ({ messages = [] }) =>
      messages.some((message) => field in message) ? { body: said(text) } : undefined,
    );
    const thought: AssistantContent = { type: "thinking", thinking: "hm", thinkingSignature: field };
    const messages = [user("hi"), answer("openai-completions", [thought, { type: "text", text: "a" }]), user("b")];
    const { first, second, requests, later } = await twice(modelAt("openai-completions", url), bodies, messages);
    expect([first.errorMessage, second.errorMessage, requests, later]).toEqual([undefined, undefined, 2, 1]);
  });

  const item = JSON.stringify({ type: "reasoning", id: "rs_1", summary: [], encrypted_content: "OLD" });
  it.each<[Api, string, number, unknown]>([
    ["anthropic-messages", "OLD", 400, said("messages.1.content.0: Invalid `signature` in `thinking` block")],
    ["anthropic-messages", "OLD", 400, said("messages.1.content.0.thinking.signature: Field required")],
    ["anthropic-messages", "OLD", 422, { detail: "Signature verification failed: signature is expired" }],
    [
      "anthropic-messages",
      "OLD",
      400,
      said(
        "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.",
      ),
    ],
    [
      "openai-completions",
      '{"type":"reasoning.text","signature":"OLD","index":0}',
      400,
      said("Provider returned error", {
        metadata: { raw: '{"error":{"message":"Invalid `signature` in `thinking` block"}}' },
      }),
    ],
    ["openai-completions", "google", 400, said("Thought signature is not valid.", { status: "INVALID_ARGUMENT" })],
    ["openai-completions", "google", 400, said("Corrupted thought signature.")],
    [
      "openai-responses",
      item,
      400,
      said("The encrypted content for item rs_1 could not be verified.", { code: "invalid_encrypted_content" }),
    ],
    [
      "openai-responses",
      item,
      404,
      said("Item with id 'rs_1' not found. Items are not persisted when `store` is set to false."),
    ],
  ])(
    "R212 %s: a stored signature %s that is refused (%i) is left out, in later prompts too",
    async (api, signature, status, body) => {
      const { bodies, url } = await serve(api, (sent) =>
        JSON.stringify(sent).includes("OLD") ? { status, body } : undefined,
      );
      const calls: AssistantContent[] = [read("call_1", signature === "google" ? { thoughtSignature: "OLD" } : {})];
      const thoughts: AssistantContent[] =
        signature === "google" ? [] : [{ type: "thinking", thinking: "hm", thinkingSignature: signature }];
      const messages = [user("hi"), answer(api, [...thoughts, ...calls], { stopReason: "toolUse" }), result("call_1")];
      const model = modelAt(api, url);
      const { first, second, requests, later, warnings } = await twice(model, bodies, messages);
      expect([first.errorMessage, second.errorMessage, requests, later]).toEqual([undefined, undefined, 2, 1]);
      expect(warnings).toHaveLength(1);
      // Thinking of later turns is not concerned.
      const fresh = signature.replaceAll("OLD", "NEW");
      const more = [
        ...messages,
        answer(api, [
          { type: "thinking", thinking: "so", thinkingSignature: fresh },
          { type: "text", text: "x" },
        ]),
        user("c"),
      ];
      expect((await stream(model, { messages: more }, ALL).result()).errorMessage).toBeUndefined();
      expect(bodies).toHaveLength(4);
      if (signature !== "google") expect(JSON.stringify(bodies[3])).toContain("NEW");
    },
  );

  const odd = `call_${"a|b/c+d==".repeat(10)}__thought__${"Ä~".repeat(160)}`;
  it.each<[Api]>([["openai-completions"], ["anthropic-messages"], ["openai-responses"]])(
    "R204 %s: an id of a model's own goes back unchanged, and mapped to another model",
    async (api) => {
      const id = api === "openai-responses" ? odd.replaceAll("|", "!") : odd;
      const { bodies, url } = await serve(api, () => undefined);
      const messages = [user("hi"), answer(api, [read(id)], { stopReason: "toolUse" }), result(id)];
      await stream(modelAt(api, url), { messages }, ALL).result();
      await stream(modelAt(api, url, { id: "other" }), { messages }, ALL).result();
      await stream(modelAt(api, url), { messages: [...messages, user("more")] }, ALL).result();
      const idsIn = (body: Body | undefined) => JSON.stringify(body).split(JSON.stringify(id)).length - 1;
      expect(bodies.map(idsIn)).toEqual([2, 0, 2]);
    },
  );

  it("R204 an id that its own server refuses after all is mapped", async () => {
    const text = "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'";
    const { bodies, url } = await serve("anthropic-messages", (sent) =>
      JSON.stringify(sent).includes("call|1") ? { body: said(text) } : undefined,
    );
    const messages = [user("hi"), answer("anthropic-messages", [read("call|1")]), result("call|1")];
    const { first, requests, later } = await twice(modelAt("anthropic-messages", url), bodies, messages);
    expect([first.errorMessage, requests, later]).toEqual([undefined, 2, 1]);
  });

  it.each(["gemini-3-pro-preview", "google/gemini-3.1-flash"])(
    "R221 %s by chat: an unsigned call of another vendor gets the documented placeholder",
    async (id) => {
      const { bodies, url } = await serve("openai-completions", () => undefined);
      const signed = answer("openai-completions", [read("c", { thoughtSignature: "own" }), read("d")], { model: id });
      const messages = [
        user("hi"),
        ...[answer("anthropic-messages", [read("a"), read("b")]), result("a"), result("b")],
        ...[signed, result("c"), result("d")],
      ];
      await stream(modelAt("openai-completions", url, { id }), { messages }, ALL).result();
      const calls = bodies[0]?.messages?.flatMap((message) => (message.tool_calls as object[] | undefined) ?? []);
      const signature = (value: string) => ({ extra_content: { google: { thought_signature: value } } });
      expect(calls).toMatchObject([signature("skip_thought_signature_validator"), {}, signature("own"), {}]);
      expect(JSON.stringify([calls?.[1], calls?.[3]])).not.toContain("extra_content");
    },
  );

  it("R221 a server that misses a signature gets the placeholder, whatever its model is called", async () => {
    const text = "Function call is missing a thought_signature in functionCall parts.";
    const { bodies, url } = await serve("openai-completions", (sent) =>
      JSON.stringify(sent).includes("skip_thought_signature_validator") ? undefined : { body: said(text) },
    );
    const messages = [user("hi"), answer("anthropic-messages", [read("a")]), result("a")];
    const { first, requests, later } = await twice(modelAt("openai-completions", url), bodies, messages);
    expect([first.errorMessage, requests, later]).toEqual([undefined, 2, 1]);
  });

  it.each<[Api]>([["openai-completions"], ["anthropic-messages"], ["openai-responses"]])(
    "R307 %s: an empty prompt says that it is empty, arguments nested too deep go as none",
    async (api) => {
      const { bodies, url } = await serve(api, () => undefined);
      let deep: Record<string, unknown> = {};
      for (let i = 0; i < 8000; i++) deep = { a: deep };
      const thinking = { type: "thinking" as const, thinking: "hm", thinkingSignature: deepSignature() };
      const messages = [user(""), user(" \n"), answer(api, [thinking, read("a", { arguments: deep })]), result("a")];
      expect((await stream(modelAt(api, url), { messages }, ALL).result()).errorMessage).toBeUndefined();
      expect(JSON.stringify(bodies[0]).split("(empty message)")).toHaveLength(3);
    },
  );

  it.each<[Api, string]>([
    ["openai-completions", "/v1/chat/completions?api-version=2"],
    ["anthropic-messages", "/v1/messages?api-version=2"],
    ["openai-responses", "/v1/responses?api-version=2"],
  ])("R219 %s: a query of baseUrl stays behind the path", async (api, expected) => {
    const paths: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      paths.push(request.url);
      response.end(DONE[api]);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    cleanups.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    for (const base of ["/v1?api-version=2", "/v1/?api-version=2", expected]) {
      const model = modelAt(api, `http://127.0.0.1:${port}${base}`);
      expect((await stream(model, { messages: [user("hi")] }, ALL).result()).errorMessage).toBeUndefined();
    }
    expect(paths).toEqual([expected, expected, expected]);
  });
});
