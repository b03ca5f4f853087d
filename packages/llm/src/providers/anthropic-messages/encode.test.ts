import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AssistantContent, AssistantMessage, Message } from "../../protocol/message.ts";
import type { Model } from "../../protocol/model.ts";
import type { Context, StreamOptions } from "../../protocol/request.ts";
import { noUsage } from "../../stream/usage.ts";
import { checkAnthropicRequest, scriptedModel } from "../../testing.ts";
import { anyTranscript } from "../__fixtures__/any-transcript.ts";
import { type Adjustments, NO_ADJUSTMENTS } from "../adjust/adjustments.ts";
import { encodeRequest as encodeParts } from "./encode.ts";

function encodeRequest(model: Model, context: Context, options: StreamOptions, more: Partial<Adjustments> = {}) {
  const { body, ...rest } = encodeParts({ model, context, options, adjustments: { ...NO_ADJUSTMENTS, ...more } });
  return { ...rest, body: Buffer.concat(body).toString() };
}

const model = scriptedModel({
  api: "anthropic-messages",
  provider: "anthropic",
  id: "claude-sonnet-4-5",
  reasoning: true,
});
const own = { api: model.api, provider: model.provider, model: model.id };
const read = {
  name: "read",
  description: "Reads.",
  parameters: { type: "object", properties: { path: { type: "string" } } },
};
const user = (content: Extract<Message, { role: "user" }>["content"]): Message => ({
  role: "user",
  content,
  timestamp: 0,
});
const says = (content: AssistantContent[], more: Partial<AssistantMessage> = {}): Message => ({
  ...{ role: "assistant", ...own, content, usage: noUsage(), stopReason: "stop", timestamp: 0, ...more },
});
const result = (toolCallId: string, more: Partial<Extract<Message, { role: "toolResult" }>> = {}): Message => ({
  ...{
    role: "toolResult",
    toolCallId,
    toolName: "read",
    content: [{ type: "text", text: "ok" }],
    isError: false,
    timestamp: 0,
  },
  ...more,
});
const call = (id: string): AssistantContent => ({ type: "toolCall", id, name: "read", arguments: { path: id } });

const MARK = { type: "ephemeral" };
const strip = (body: string) => body.replaceAll(',"cache_control":{"type":"ephemeral"}', "");
const encode = (
  context: Context,
  options: StreamOptions = {},
  to: Model = model,
  learned: Partial<Adjustments> = {},
) => {
  const { body } = encodeRequest(to, context, options, learned);
  const value = JSON.parse(body);
  expect(checkAnthropicRequest(value)).toEqual([]);
  return value;
};
const messagesOf = (...messages: Message[]) => JSON.parse(strip(JSON.stringify(encode({ messages }).messages)));

describe("the Messages encoder", () => {
  it("sends system prompt, tools and messages with at most four cache marks", () => {
    const messages = [
      user("one"),
      says([call("a")]),
      result("a"),
      says([{ type: "text", text: "two" }]),
      user("three"),
    ];
    expect(encode({ systemPrompt: "Be good.", tools: [{ ...read, name: "write" }, read], messages })).toEqual({
      ...{ model: "claude-sonnet-4-5", stream: true, max_tokens: 32_000 },
      system: [{ type: "text", text: "Be good.", cache_control: MARK }],
      tools: [
        { name: "write", description: "Reads.", input_schema: read.parameters },
        { name: "read", description: "Reads.", input_schema: read.parameters, cache_control: MARK },
      ],
      messages: [
        { role: "user", content: [{ type: "text", text: "one" }] },
        { role: "assistant", content: [{ type: "tool_use", id: "a", name: "read", input: { path: "a" } }] },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "a", content: [{ type: "text", text: "ok" }], cache_control: MARK },
          ],
        },
        { role: "assistant", content: [{ type: "text", text: "two" }] },
        { role: "user", content: [{ type: "text", text: "three", cache_control: MARK }] },
      ],
    });
  });

  it("joins results and what the user said after them, results first", () => {
    const messages = [
      user("go"),
      says([call("a"), call("b")]),
      result("a"),
      result("b", { isError: true }),
      user("and"),
      user("more"),
    ];
    expect(messagesOf(...messages)[2]).toEqual({
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "a", content: [{ type: "text", text: "ok" }] },
        { type: "tool_result", tool_use_id: "b", content: [{ type: "text", text: "ok" }], is_error: true },
        { type: "text", text: "and" },
        { type: "text", text: "more" },
      ],
    });
  });

  it("sends images in user messages and in results; a type the API lacks becomes a note", () => {
    const image = { type: "image" as const, data: "AAAA", mimeType: "image/jpg" };
    const source = { type: "base64", media_type: "image/jpeg", data: "AAAA" };
    const messages = messagesOf(
      user([image, { type: "text", text: "see" }]),
      says([call("a")]),
      result("a", { content: [image, { ...image, mimeType: "image/bmp" }] }),
    );
    expect(messages[0].content).toEqual([
      { type: "image", source },
      { type: "text", text: "see" },
    ]);
    expect(messages[2].content[0].content).toEqual([
      { type: "image", source },
      { type: "text", text: expect.stringContaining("image/bmp") },
    ]);
  });

  it("R029 replays own signed thinking, and nothing foreign", () => {
    const thought: AssistantContent = { type: "thinking", thinking: "hm", thinkingSignature: "sig" };
    const redacted: AssistantContent = { type: "thinking", thinking: "", thinkingSignature: "xx", redacted: true };
    const unsigned: AssistantContent = { type: "thinking", thinking: "unsigned" };
    const said: AssistantContent = { type: "text", text: "hi" };
    const content = [thought, redacted, unsigned, said];
    expect(messagesOf(user("a"), says(content), user("b"))[1].content).toEqual([
      { type: "thinking", thinking: "hm", signature: "sig" },
      { type: "redacted_thinking", data: "xx" },
      said,
    ]);
    expect(messagesOf(user("a"), says(content, { model: "other" }), user("b"))[1].content).toEqual([said]);
    const lenient = { ...model, id: "m", compat: { allowEmptySignature: true } };
    const { body } = encodeRequest(
      lenient,
      { messages: [user("a"), says([unsigned, said], { model: "m" }), user("b")] },
      {},
    );
    expect(JSON.parse(body).messages[1].content[0]).toEqual({ type: "thinking", thinking: "unsigned", signature: "" });
  });

  it("an assistant message ends neither in thinking nor in spaces", () => {
    const thought: AssistantContent = { type: "thinking", thinking: " hm ", thinkingSignature: "sig" };
    const ends = (content: AssistantContent[]) => messagesOf(user("a"), says(content), user("b"))[1].content;
    expect(ends([{ type: "text", text: "hi \n" }, thought])).toEqual([{ type: "text", text: "hi" }]);
    expect(ends([thought])).toEqual([{ type: "text", text: "hm" }]);
    expect(ends([{ type: "text", text: "a \n" }, call("x")].slice(0, 1) as AssistantContent[])).toEqual([
      { type: "text", text: "a" },
    ]);
  });

  it("sends no empty text, content or first assistant turn", () => {
    expect(messagesOf(user(" \n"))).toEqual([{ role: "user", content: [{ type: "text", text: "(empty message)" }] }]);
    expect(messagesOf(user([])).at(0).content).toHaveLength(1);
    const emptied = messagesOf(user("a"), says([call("x")]), result("x", { content: [], isError: true }));
    expect(emptied[2].content[0].content).toEqual([{ type: "text", text: "(no output)" }]);
    expect(messagesOf(says([{ type: "text", text: "hi" }]), user("a"))[0].role).toBe("user");
    expect(encode({ systemPrompt: " ", tools: [], messages: [user("a")] })).not.toHaveProperty("system");
  });

  it("B8 folds later system messages into the head, or keeps them where the model takes them", () => {
    const messages: Message[] = [
      { role: "system", content: "", sections: { a: "A1" }, toolsAdded: [read], timestamp: 0 },
      user("one"),
      says([{ type: "text", text: "two" }]),
      user("three"),
      { role: "system", content: "", sections: { a: "A2" }, timestamp: 0 },
    ];
    expect(encode({ messages })).toMatchObject({ system: [{ text: "A2" }], tools: [{ name: "read" }] });
    const able = { ...model, compat: { supportsMidConvoSystemMessages: true } };
    const body = JSON.parse(encodeRequest(able, { messages }, {}).body);
    expect(body.system[0].text).toBe("A1");
    expect(body.messages[3]).toMatchObject({ role: "system", content: [{ text: expect.stringContaining("A2") }] });
    expect(checkAnthropicRequest(body, { midSystem: true })).toEqual([]);
  });

  it("B8 puts later system messages behind the turn of the user that they come with, all of one turn together", () => {
    const change = (text: string): Message => ({ role: "system", content: text, timestamp: 0 });
    const able = { ...model, compat: { supportsMidConvoSystemMessages: true } };
    const messages = [
      ...[user("one"), says([call("x")]), result("x"), change("A"), user("steer"), change("B")],
      ...[says([{ type: "text", text: "two" }]), change("C"), user("three")],
    ];
    const body = JSON.parse(encodeRequest(able, { systemPrompt: "S", tools: [read], messages }, {}).body);
    expect(checkAnthropicRequest(body, { midSystem: true })).toEqual([]);
    expect(
      body.messages.map(({ role, content }: { role: string; content: unknown[] }) => [role, content.length]),
    ).toEqual([
      ...[
        ["user", 1],
        ["assistant", 1],
        ["user", 2],
        ["system", 2],
      ],
      ...[
        ["assistant", 1],
        ["user", 1],
        ["system", 1],
      ],
    ]);
  });

  it("R041 leaves a tool out that cannot be said, and reports it", () => {
    const { body, warnings } = encodeRequest(
      model,
      { messages: [user("a")], tools: [{ ...read, name: "bad", parameters: { type: "string" } }, read] },
      {},
    );
    expect(JSON.parse(body).tools.map(({ name }: { name: string }) => name)).toEqual(["read"]);
    expect(warnings).toHaveLength(1);
  });
});

describe("thinking", () => {
  const fields = (level: StreamOptions["thinkingLevel"], more: Partial<Model> = {}, options: StreamOptions = {}) => {
    const { thinking, output_config, max_tokens, temperature } = encode(
      { messages: [user("a")] },
      { temperature: 0.5, ...options, ...(level ? { thinkingLevel: level } : {}) },
      { ...model, ...more },
    );
    return { thinking, output_config, max_tokens, temperature };
  };

  it("asks for a budget below the output limit", () => {
    expect(fields("medium")).toEqual({ thinking: { type: "enabled", budget_tokens: 10_240 }, max_tokens: 32_000 });
    expect(fields("high", {}, { maxTokens: 4000 })).toEqual({
      thinking: { type: "enabled", budget_tokens: 20_480 },
      max_tokens: 21_504,
    });
    expect(fields("high", { maxTokens: 8192 })).toEqual({
      thinking: { type: "enabled", budget_tokens: 7168 },
      max_tokens: 8192,
    });
    expect(fields("high", { maxTokens: 2000 })).toEqual({ max_tokens: 2000, temperature: 0.5 });
    expect(fields("low", { thinkingLevelMap: { low: "2000" } }).thinking).toEqual({
      type: "enabled",
      budget_tokens: 2000,
    });
  });

  it("asks for an effort where the model decides itself", () => {
    const adaptive = { type: "adaptive", display: "summarized" };
    for (const id of [
      "claude-opus-4-6",
      "anthropic/claude-sonnet-4.6",
      "claude-opus-4-7",
      "claude-opus-5-20270101",
      "claude-fable-5",
    ]) {
      expect(fields("high", { id })).toEqual({
        thinking: adaptive,
        output_config: { effort: "high" },
        max_tokens: 32_000,
      });
    }
    const map = { off: null, minimal: null, low: "low", medium: null, high: "high" };
    expect(fields("minimal", { id: "claude-opus-5", thinkingLevelMap: map }).output_config).toEqual({ effort: "low" });
    expect(fields("medium", { id: "claude-opus-5", thinkingLevelMap: map }).output_config).toEqual({ effort: "low" });
    expect(fields("minimal", { id: "claude-opus-4-6" }).output_config).toEqual({ effort: "low" });
    expect(fields("max", { id: "claude-opus-4-6" }).output_config).toEqual({ effort: "high" });
    expect(fields("xhigh", { id: "claude-opus-4-6", thinkingLevelMap: { xhigh: "max" } }).output_config).toEqual({
      effort: "max",
    });
    for (const id of [
      "claude-opus-4-20250514",
      "claude-opus-4-1-20250805",
      "claude-3-7-sonnet-20250219",
      "claude-haiku-4-5-20251001",
      "kimi",
    ]) {
      expect(fields("high", { id }).thinking).toMatchObject({ type: "enabled" });
    }
    expect(fields("high", { id: "x", compat: { forceAdaptiveThinking: true } }).thinking).toEqual(adaptive);
  });

  it("R028 does not switch thinking off for a model that cannot", () => {
    const always = { id: "claude-fable-5", thinkingLevelMap: { off: null } };
    expect(fields("off", always)).toEqual({ max_tokens: 32_000, temperature: 0.5 });
  });

  it("asks for nothing when off or when the model does not reason", () => {
    expect(fields("off")).toEqual({ max_tokens: 32_000, temperature: 0.5 });
    const adaptive = { id: "claude-opus-5" };
    expect(fields("off", adaptive)).toEqual({ thinking: { type: "disabled" }, max_tokens: 32_000, temperature: 0.5 });
    expect(fields("high", { reasoning: false })).toEqual({ max_tokens: 32_000, temperature: 0.5 });
    expect(fields(undefined, { compat: { supportsTemperature: false } })).toEqual({ max_tokens: 32_000 });
  });

  it("R043 the output limit is what the prompt leaves of the window", () => {
    const small = { ...model, contextWindow: 16_000, maxTokens: 16_000 };
    const limit = (context: Context) => encode(context, {}, small).max_tokens;
    const prompt = 12_000;
    expect(limit({ messages: [user("x".repeat(prompt * 4))] })).toBeLessThanOrEqual(16_000 - prompt);
    expect(limit({ messages: [user("x".repeat(prompt * 4))] })).toBeGreaterThan(3000);
    const usage = { ...noUsage(), totalTokens: 15_000 };
    const counted = [user("x".repeat(50_000)), says([{ type: "text", text: "y" }], { usage }), user("z")];
    expect(limit({ messages: counted })).toBe(1024);
    // A count of before a compaction does not hold for what is left.
    expect(limit({ messages: counted.slice(1) })).toBeGreaterThan(10_000);
  });
});

describe("any transcript", () => {
  const tools = [read, { ...read, name: "a.b c/ü" }];

  it("is encoded as a valid request", () => {
    fc.assert(
      fc.property(anyTranscript(own), (messages) => {
        encode({ systemPrompt: "p", tools, messages }, {}, model, { styles: new Set(["mapped-tool-ids"]) });
      }),
      { numRuns: 300 },
    );
  });

  it("O3 the bytes up to the last common message are equal in the next request", () => {
    fc.assert(
      fc.property(anyTranscript(own), fc.nat(), fc.boolean(), (messages, at, reopened) => {
        const cut = 1 + (at % messages.length);
        const earlier = strip(
          encodeRequest(model, { systemPrompt: "p", tools, messages: messages.slice(0, cut) }, {}).body,
        );
        const later = reopened ? structuredClone(messages) : messages;
        const options: StreamOptions = { thinkingLevel: "high", temperature: 1, maxTokens: 5000 };
        const body = strip(
          encodeRequest(model, { systemPrompt: "p", tools: structuredClone(tools), messages: later }, options).body,
        );
        // The last turn may still grow, so its closing brackets are not part of what is common.
        const common = earlier.slice(0, earlier.lastIndexOf(',"max_tokens"')).replace(/\]\}\]$/, "");
        expect(body.startsWith(common)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
