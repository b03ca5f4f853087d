import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AssistantMessage, Message, ToolResultMessage, UserMessage } from "../../protocol/message.ts";
import type { Model, ThinkingLevel } from "../../protocol/model.ts";
import type { Context, StreamOptions } from "../../protocol/request.ts";
import type { StrictRules } from "../../scripted/strict-checker.ts";
import { checkOpenAIRequest } from "../../scripted/strict-openai.ts";
import { emptyAssistantMessage } from "../../stream/assembler.ts";
import { type Adjustments, NO_ADJUSTMENTS } from "../adjust/adjustments.ts";
import { encodeRequest } from "./encode.ts";

const MODEL: Model = {
  id: "m",
  name: "M",
  api: "openai-completions",
  provider: "vendor",
  baseUrl: "http://127.0.0.1:9/v1",
  reasoning: false,
  input: ["text", "image"],
  cost: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 },
  contextWindow: 200_000,
  maxTokens: 16_384,
};

type Body = Record<string, unknown> & { messages: Record<string, unknown>[] };

function raw(model: Model, context: Context, options: StreamOptions = {}, more: Partial<Adjustments> = {}): string {
  const adjustments = { ...NO_ADJUSTMENTS, ...more };
  return Buffer.concat(encodeRequest({ model, context, options, adjustments }).body).toString();
}

const body = (...request: Parameters<typeof raw>): Body => JSON.parse(raw(...request)) as Body;

const user = (content: UserMessage["content"]): UserMessage => ({ role: "user", content, timestamp: 1 });
const assistant = (content: AssistantMessage["content"], more: Partial<AssistantMessage> = {}): AssistantMessage => ({
  ...emptyAssistantMessage(MODEL, 1),
  content,
  ...more,
});
const text = (value: string) => ({ type: "text" as const, text: value });
const image = { type: "image" as const, data: "iVBORw0KGgo=", mimeType: "image/png" };
const call = (id: string, args: Record<string, unknown> = {}) => ({
  type: "toolCall" as const,
  id,
  name: "read",
  arguments: args,
});
const result = (toolCallId: string, content: ToolResultMessage["content"] = [text("out")]): ToolResultMessage => ({
  role: "toolResult",
  toolCallId,
  toolName: "read",
  content,
  isError: false,
  timestamp: 1,
});
const READ = {
  name: "read",
  description: "Reads a file",
  parameters: { type: "object", properties: { path: { type: "string" } } },
};

function valid(value: unknown, rules: StrictRules = {}): void {
  expect(checkOpenAIRequest(value, rules)).toEqual([]);
}

describe("the request", () => {
  it("has system prompt, tools, messages, and is valid for a strict server", () => {
    const context: Context = {
      systemPrompt: "Be brief.",
      messages: [user("hi"), assistant([text("Let me see"), call("call_1", { path: "a" })]), result("call_1")],
      tools: [READ],
    };
    const request = body(MODEL, context, { temperature: 0, maxTokens: 100 });
    valid(request);
    expect(request).toMatchObject({
      model: "m",
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 100,
      temperature: 0,
      tools: [{ type: "function", function: { name: "read" } }],
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "hi" },
        {
          role: "assistant",
          content: "Let me see",
          tool_calls: [{ id: "call_1", type: "function", function: { name: "read", arguments: '{"path":"a"}' } }],
        },
        { role: "tool", tool_call_id: "call_1", content: "out" },
      ],
    });
  });

  it("O3 R032 bytes up to the last common message are equal, whatever else of the request changes", () => {
    const history: Message[] = [
      user("one"),
      assistant([call("a"), call("b")]),
      result("a", [text("x"), image]),
      result("b"),
    ];
    const options: StreamOptions[] = [
      { maxTokens: 10 },
      { temperature: 1, sessionId: "s" },
      { thinkingLevel: "high" },
      { maxTokens: 99, thinkingLevel: "low" },
    ];
    const model = { ...MODEL, reasoning: true };
    let before = "";
    for (const [turn, more] of options.entries()) {
      const context = { systemPrompt: "s", messages: [...history], tools: [READ] };
      const request = raw(model, context, more);
      const messages = request.slice(0, request.lastIndexOf("]"));
      if (turn > 0) expect(request.startsWith(before)).toBe(true);
      before = messages;
      history.push(assistant([text(`answer ${turn}`)]), user(`next ${turn}`));
    }
  });

  it("O1 a message is encoded once: later requests join the same texts", () => {
    const message = user([text("hello")]);
    const first = raw(MODEL, { messages: [message] });
    Object.defineProperty(message, "content", {
      get: () => {
        throw new Error("looked at again");
      },
    });
    expect(raw(MODEL, { messages: [message] })).toBe(first);
    expect(raw({ ...MODEL }, { messages: [message] })).toBe(first);
  });

  it("O1 what was encoded before does not show: a request has the bytes of one made anew, whatever was sent before", () => {
    const pool: Message[] = [
      user("one"),
      assistant([call("a"), call("b")]),
      result("a", [text("x"), image]),
      result("b", [image]),
      result("b"),
      assistant([text("said")]),
      assistant([]),
      user([text("two"), image]),
    ];
    const lists = fc.array(fc.array(fc.nat(pool.length - 1), { maxLength: 8 }), { minLength: 1, maxLength: 4 });
    const compat = { requiresAssistantAfterToolResult: true };
    fc.assert(
      fc.property(
        lists,
        fc.constantFrom({}, { cacheControlFormat: "anthropic" as const }, compat),
        (requests, traits) => {
          for (const picked of requests) {
            const messages = [pool[0], ...picked.map((at) => pool[at])].filter((message) => message !== undefined);
            const model: Model = { ...MODEL, compat: traits };
            expect(raw(model, { messages })).toBe(raw(model, { messages: structuredClone(messages) }));
          }
        },
      ),
    );
  });

  it("O1 a turn is encoded by itself, and many turns become few pieces that do not show", () => {
    const messages: Message[] = [user("one")];
    const parts = () =>
      encodeRequest({ model: MODEL, context: { messages }, options: {}, adjustments: NO_ADJUSTMENTS }).body;
    for (let turn = 0; turn < 1000; turn++) {
      messages.push(assistant([call(`c${turn}`)]), result(`c${turn}`, turn % 7 === 0 ? [image] : [text("out")]));
      const body = parts();
      if (turn % 100 === 99) expect(String(Buffer.concat(body))).toBe(raw(MODEL, structuredClone({ messages })));
    }
    expect(parts().length).toBeLessThan(25);
    // The bytes of what was sent before are not made again.
    const before = new Set(parts());
    messages.push(user("two"));
    expect(parts().filter((part) => !before.has(part)).length).toBeLessThanOrEqual(4);
  });

  it("O1 a long history is encoded in pieces that do not show", () => {
    const turn = (id: string) => [
      user(`go ${id}`),
      assistant([call(id), call(`${id}x`)]),
      result(id),
      result(`${id}x`),
    ];
    const messages = Array.from({ length: 300 }, (_, index) => turn(`c${index}`)).flat();
    const sent = body(MODEL, { messages }).messages;
    const pieces = messages.flatMap((message) => body(MODEL, { messages: [message] }).messages);
    expect(sent).toEqual(pieces);
  });

  it("is valid for a strict server for any transcript that the loop can give", () => {
    const anyText = fc.string({ unit: fc.constantFrom("a", " ", "\n", "é", "\ud800", "\u0000", "😀"), maxLength: 5 });
    const blocks = fc.array(fc.oneof(anyText.map(text), fc.constant(image)), { maxLength: 3 });
    const turn = fc.record({
      prompt: fc.oneof(
        anyText.map((value) => `p${value}`),
        blocks,
      ),
      said: fc.array(anyText.map(text), { maxLength: 2 }),
      thoughts: fc.array(
        fc.record({
          type: fc.constant("thinking" as const),
          thinking: anyText,
          thinkingSignature: fc.constantFrom("reasoning_content", "", '{"type":"reasoning.text","index":0}', "opaque"),
        }),
        { maxLength: 2 },
      ),
      results: fc.array(blocks, { maxLength: 3 }),
      args: fc.dictionary(anyText, anyText),
      stop: fc.constantFrom("stop" as const, "error" as const, "aborted" as const),
    });
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 5 }), fc.boolean(), (turns, images) => {
        const messages: Message[] = [];
        for (const [at, { prompt, said, thoughts, results, args, stop }] of turns.entries()) {
          messages.push(user(prompt));
          const calls = results.map((_, index) => call(`call|${at}_${index}${"x".repeat(60)}`, args));
          messages.push(
            assistant([...thoughts, ...said, ...calls], { stopReason: calls.length > 0 ? "toolUse" : stop }),
          );
          messages.push(...results.map((content, index) => result(calls[index]?.id ?? "", content)));
        }
        messages.push(user("continue"));
        const model: Model = { ...MODEL, input: images ? ["text", "image"] : ["text"] };
        const json = raw(model, { messages }, {}, { styles: new Set(["mapped-tool-ids"]) });
        expect(json.isWellFormed()).toBe(true);
        expect(json).not.toMatch(/[^\\](\\\\)*\\ud[89a-f]/);
        valid(JSON.parse(json));
      }),
    );
  });
});

describe("messages", () => {
  const messagesOf = (messages: Message[], model: Model = MODEL) => body(model, { messages }).messages;

  it("sends images of a user as data URLs, and those of tool results after the whole batch", () => {
    const sent = messagesOf([
      user([text("look"), image]),
      assistant([call("a"), call("b")]),
      result("a", [text("shot"), image]),
      result("b", [image]),
      user("and?"),
    ]);
    const part = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };
    expect(sent.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "user", "user"]);
    expect(sent[0]?.content).toEqual([{ type: "text", text: "look" }, part]);
    expect(sent[2]?.content).toBe("shot");
    expect(sent[3]?.content).toBe("(the image follows)");
    expect(sent[4]?.content).toEqual([{ type: "text", text: expect.any(String) }, part, part]);
  });

  it("gives a tool result some content always", () => {
    expect(messagesOf([user("x"), assistant([call("a")]), result("a", [])]).at(-1)?.content).toBe("(no output)");
  });

  it("R027 maps ids to what the target takes, the same for call and result", () => {
    const id = "call_abc|fc_1234567890123456789012345678901234567890";
    const foreign = assistant([call(id), call("call_2")], { provider: "other" });
    const messages = [user("x"), foreign, result(id), result("call_2")];
    const ids = (model: Model) => {
      const sent = messagesOf(messages, model);
      const calls = sent[1]?.tool_calls as { id: string }[];
      return [calls.map((one) => one.id), sent.slice(2).map((one) => one.tool_call_id)];
    };
    const [calls, results] = ids({ ...MODEL, compat: { requiresMistralToolIds: true } });
    expect(calls).toEqual(results);
    for (const one of calls ?? []) expect(one).toMatch(/^[A-Za-z0-9]{9}$/);
    expect(new Set(calls).size).toBe(2);
    expect(ids({ ...MODEL, baseUrl: "https://api.mistral.ai/v1" })).toEqual([calls, results]);
    const [openai] = ids(MODEL);
    for (const one of openai ?? []) expect(one).toMatch(/^[A-Za-z0-9_-]{1,40}$/);
    expect(openai?.[1]).toBe("call_2");
  });

  it("R028 sends foreign thinking to nobody, and own thinking back in the field it came in", () => {
    const thoughts = [
      { type: "thinking" as const, thinking: "hm", thinkingSignature: "reasoning_content" },
      {
        type: "thinking" as const,
        thinking: "so",
        thinkingSignature: '{"type":"reasoning.text","index":0,"signature":"s"}',
      },
      {
        type: "thinking" as const,
        thinking: "",
        thinkingSignature: '{"type":"reasoning.encrypted","data":"d"}',
        redacted: true,
      },
    ];
    const messages = [user("x"), assistant([...thoughts, text("yes")]), user("y")];
    expect(messagesOf(messages)[1]).toEqual({
      role: "assistant",
      content: "yes",
      reasoning_content: "hm",
      reasoning_details: [
        { type: "reasoning.text", index: 0, signature: "s", text: "so" },
        { type: "reasoning.encrypted", data: "d" },
      ],
    });
    expect(messagesOf(messages, { ...MODEL, id: "other" })[1]).toEqual({ role: "assistant", content: "yes" });
    const asText = messagesOf(messages, { ...MODEL, compat: { requiresThinkingAsText: true } })[1];
    expect(asText).toEqual({ role: "assistant", content: "<thinking>\nhm\nso\n</thinking>\nyes" });
  });

  it("R039 echoes a call with invalid arguments as valid JSON", () => {
    const broken = { ...call("a"), invalidArguments: { raw: '{"x":"\u0000', error: "bad" } };
    const sent = messagesOf([user("x"), assistant([broken]), result("a")]);
    expect(sent[1]?.tool_calls).toMatchObject([{ function: { arguments: "{}" } }]);
    const lone = messagesOf([user("x"), assistant([call("a", { "k\ud800": "v\udc00" })]), result("a")]);
    expect(lone[1]?.tool_calls).toMatchObject([{ function: { arguments: '{"k\ufffd":"v\ufffd"}' } }]);
  });

  it("follows the compat fields", () => {
    const messages = [user("x"), assistant([call("a")]), result("a"), user("y")];
    const compat = {
      requiresToolResultName: true,
      requiresAssistantAfterToolResult: true,
      requiresNonNullAssistantContent: true,
      requiresReasoningContentOnAssistantMessages: true,
    };
    const sent = messagesOf(messages, { ...MODEL, reasoning: true, compat });
    expect(sent.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant", "user"]);
    expect(sent[1]).toMatchObject({ content: "", reasoning_content: "" });
    expect(sent[2]).toMatchObject({ name: "read" });
    expect(messagesOf(messages)[1]).toMatchObject({ content: null });
  });

  it("B8 folds system messages into the head, or leaves them in place where the server takes them", () => {
    const messages: Message[] = [
      user("x"),
      assistant([text("y")]),
      { role: "system", content: "Be loud.", timestamp: 1 },
      user("z"),
    ];
    const context = { systemPrompt: "Be brief.", messages };
    expect(body(MODEL, context).messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
    const inPlace = body({ ...MODEL, compat: { supportsMidConvoSystemMessages: true } }, context).messages;
    expect(inPlace.map(({ role }) => role)).toEqual(["system", "user", "assistant", "system", "user"]);
  });

  it("uses the developer role for reasoning models of OpenAI only", () => {
    const role = (more: Partial<Model>, learned: Partial<Adjustments> = {}) =>
      body({ ...MODEL, ...more }, { systemPrompt: "s", messages: [user("x")] }, {}, learned).messages[0]?.role;
    const openai = { baseUrl: "https://api.openai.com/v1", reasoning: true };
    expect(role(openai)).toBe("developer");
    expect(role({ ...openai, reasoning: false })).toBe("system");
    expect(role({ reasoning: true })).toBe("system");
    expect(role({ reasoning: true, compat: { supportsDeveloperRole: true } })).toBe("developer");
    expect(role(openai, { styles: new Set(["system-role"]) })).toBe("system");
  });

  it("marks the cache points of Anthropic's models behind OpenRouter", () => {
    const model = { ...MODEL, baseUrl: "https://openrouter.ai/api/v1", id: "anthropic/claude-sonnet-4" };
    const sent = body(model, { systemPrompt: "s", messages: [user("x"), assistant([text("y")]), user("z")] }).messages;
    const mark = { cache_control: { type: "ephemeral" } };
    expect(sent[0]?.content).toEqual([{ type: "text", text: "s", ...mark }]);
    expect(sent[1]?.content).toBe("x");
    expect(sent[3]?.content).toEqual([{ type: "text", text: "z", ...mark }]);
  });
});

describe("output limit", () => {
  const limit = (model: Model, context: Context, maxTokens?: number) => {
    const request = body(model, context, maxTokens === undefined ? {} : { maxTokens });
    return Number(request.max_tokens);
  };

  it("R043 never asks for more than the window leaves", () => {
    const model = { ...MODEL, contextWindow: 16_000, maxTokens: 16_000 };
    const prompt = user("word ".repeat(9600));
    const asked = limit(model, { messages: [prompt] });
    expect(asked).toBeLessThanOrEqual(4000);
    expect(asked).toBeGreaterThan(2500);
    const usage = { ...emptyAssistantMessage(MODEL).usage, input: 13_000, output: 1000, totalTokens: 14_000 };
    const told = limit(model, { messages: [prompt, assistant([text("ok")], { usage }), user("more")] });
    expect(told).toBeLessThanOrEqual(2000);
    expect(told).toBeGreaterThanOrEqual(1024);
  });

  it("R043 asks for what is wanted when there is room, and for a floor when there is none", () => {
    const context = { messages: [user("hi")] };
    expect(limit(MODEL, context)).toBe(16_384);
    expect(limit(MODEL, context, 500)).toBe(500);
    expect(limit(MODEL, context, 99_999)).toBe(16_384);
    expect(limit({ ...MODEL, maxTokens: 128_000 }, context)).toBe(32_000);
    expect(limit({ ...MODEL, contextWindow: 1000 }, { messages: [user("x".repeat(100_000))] })).toBe(1024);
  });

  it("is named as the server wants it", () => {
    const names = (more: Partial<Model>, learned: Partial<Adjustments> = {}) =>
      Object.keys(body({ ...MODEL, ...more }, { messages: [user("x")] }, {}, learned)).filter((key) =>
        key.startsWith("max_"),
      );
    expect(names({})).toEqual(["max_tokens"]);
    expect(names({ baseUrl: "https://api.openai.com/v1" })).toEqual(["max_completion_tokens"]);
    expect(names({ compat: { maxTokensField: "max_completion_tokens" } })).toEqual(["max_completion_tokens"]);
    expect(names({}, { renamed: new Map([["max_tokens", "max_completion_tokens"]]) })).toEqual([
      "max_completion_tokens",
    ]);
    expect(
      names({ baseUrl: "https://api.openai.com/v1" }, { renamed: new Map([["max_completion_tokens", "max_tokens"]]) }),
    ).toEqual(["max_tokens"]);
  });
});

describe("thinking", () => {
  const fields = (level: ThinkingLevel | undefined, more: Partial<Model> = {}) => {
    const options = level === undefined ? {} : { thinkingLevel: level };
    const {
      model: _m,
      stream: _s,
      stream_options: _o,
      messages: _c,
      max_tokens: _t,
      max_completion_tokens: _u,
      ...rest
    } = body({ ...MODEL, reasoning: true, ...more }, { messages: [user("x")] }, options);
    return rest;
  };
  const format = (thinkingFormat: string, more: object = {}) =>
    ({ compat: { thinkingFormat, ...more } }) as Partial<Model>;

  it.each<[ThinkingLevel | undefined, Partial<Model>, object]>([
    [undefined, {}, {}],
    ["high", {}, { reasoning_effort: "high" }],
    ["max", {}, { reasoning_effort: "high" }],
    ["xhigh", { thinkingLevelMap: { xhigh: "xhigh" } }, { reasoning_effort: "xhigh" }],
    ["minimal", { thinkingLevelMap: { minimal: "none" } }, { reasoning_effort: "none" }],
    ["high", { thinkingLevelMap: { high: null } }, { reasoning_effort: "medium" }],
    ["off", {}, {}],
    ["off", { thinkingLevelMap: { off: "none" } }, { reasoning_effort: "none" }],
    ["high", { reasoning: false }, {}],
    ["high", { compat: { supportsReasoningEffort: false } }, {}],
    ["low", format("openrouter"), { reasoning: { effort: "low" } }],
    ["off", format("openrouter"), { reasoning: { enabled: false } }],
    ["high", format("deepseek"), { thinking: { type: "enabled" }, reasoning_effort: "high" }],
    ["off", format("deepseek"), { thinking: { type: "disabled" } }],
    ["high", format("zai"), { thinking: { type: "enabled" } }],
    ["high", format("qwen"), { enable_thinking: true }],
    [
      "off",
      format("qwen-chat-template"),
      { chat_template_kwargs: { enable_thinking: false, preserve_thinking: true } },
    ],
    [
      "low",
      format("chat-template", {
        chatTemplateKwargs: { thinking: { $var: "thinking.enabled" }, effort: { $var: "thinking.effort" }, x: 1 },
      }),
      { chat_template_kwargs: { thinking: true, effort: "low", x: 1 } },
    ],
    ["high", { baseUrl: "https://openrouter.ai/api/v1" }, { reasoning: { effort: "high" } }],
    ["high", format("unknown-format"), { reasoning_effort: "high" }],
  ])("level %s with %j", (level, more, expected) => {
    expect(fields(level, more)).toEqual(expected);
  });

  it("R028 does not switch off what cannot be switched off", () => {
    expect(fields("off", { ...format("deepseek"), thinkingLevelMap: { off: null } })).toEqual({});
  });
});

describe("tools", () => {
  it("R041 R165 are lowered and renamed for the wire, with a warning for one that cannot be said", () => {
    const tools = [
      {
        name: "a.b c",
        description: "x",
        parameters: { $schema: "s", type: "object", properties: { k: { const: 1 } } },
      },
      { name: "bad", description: "x", parameters: "nonsense" as unknown as Record<string, unknown> },
    ];
    const encoded = encodeRequest({
      model: MODEL,
      context: { messages: [user("x")], tools },
      options: {},
      adjustments: NO_ADJUSTMENTS,
    });
    const sent = JSON.parse(Buffer.concat(encoded.body).toString());
    valid(sent);
    expect(sent.tools).toHaveLength(1);
    expect(encoded.warnings).toEqual([expect.stringContaining('"bad"')]);
  });

  it("are an empty list where a server wants one beside old calls", () => {
    const messages = [user("x"), assistant([call("a")]), result("a")];
    const compat = { requiresToolsWithToolHistory: true };
    expect(body({ ...MODEL, compat }, { messages }).tools).toEqual([]);
    expect(body(MODEL, { messages }).tools).toBeUndefined();
  });
});
