import { describe, expect, it } from "vitest";
import { checkAnthropicRequest, checkOpenAIRequest } from "../testing.ts";

const call = (id: unknown, args = "{}", name = "bash") => ({
  id,
  type: "function",
  function: { name, arguments: args },
});
const asks = (...calls: unknown[]) => ({ role: "assistant", content: null, tool_calls: calls });
const result = (id: string) => ({ role: "tool", tool_call_id: id, content: "ok" });
const user = { role: "user", content: "hi" };
const tool = {
  type: "function",
  function: { name: "bash", description: "", parameters: { type: "object", properties: {} } },
};
const openAI = (messages: unknown[], more: object = {}) =>
  checkOpenAIRequest({ model: "m", stream: true, messages, ...more });

describe("the strict chat-completions checker", () => {
  it("takes a whole conversation", () => {
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
    const messages = [
      { role: "system", content: "be good" },
      { role: "user", content: [{ type: "text", text: "look" }, image] },
      asks(call("a"), call("b")),
      result("b"),
      result("a"),
      { role: "assistant", content: "done" },
      user,
    ];
    expect(openAI(messages, { tools: [tool], max_tokens: 5, stream_options: { include_usage: true } })).toEqual([]);
  });

  it.each([
    ["no result", [user, asks(call("a")), user], "no result directly after"],
    ["result too late", [user, asks(call("a")), user, result("a")], "no result directly after"],
    ["open at the end", [user, asks(call("a"))], "no result directly after"],
    ["answered twice", [user, asks(call("a")), result("a"), result("a")], "no call directly before"],
    ["orphan result", [user, result("x")], "no call directly before"],
    ["id used twice", [user, asks(call("a"), call("a")), result("a")], "used twice"],
    ["id used twice over turns", [user, asks(call("a")), result("a"), asks(call("a")), result("a")], "used twice"],
    ["id null", [user, asks(call(null)), result("a")], "must be a non-empty string, is null"],
    ["id empty", [user, asks(call("")), result("")], "must be a non-empty string"],
    ["id too long", [user, asks(call("x".repeat(41))), result("x".repeat(41))], "must match"],
    ["arguments cut", [user, asks(call("a", '{"a":')), result("a")], "not valid JSON"],
    ["arguments no object", [user, asks(call("a", "[]")), result("a")], "must be a JSON object"],
    ["arguments empty", [user, asks(call("a", "")), result("a")], "must be a non-empty string"],
    ["name", [user, asks(call("a", "{}", "a b")), result("a")], "must match"],
    ["role", [{ role: "toolResult", content: "x" }], "unknown role"],
    ["system late", [user, { role: "system", content: "x" }], "after the conversation"],
    ["assistant last", [user, { role: "assistant", content: "x" }], "last message"],
    ["assistant empty", [user, { role: "assistant", content: "" }, user], "must not be empty"],
    ["assistant null", [user, { role: "assistant", content: null }, user], "must not be null"],
    ["no messages", [], "non-empty array"],
    ["only system", [{ role: "system", content: "x" }], "no user message"],
    ["unknown key", [{ ...user, timestamp: 1 }], "unknown key"],
    ["empty part", [{ role: "user", content: [{ type: "text", text: "" }] }], "non-empty string"],
    ["lone surrogate", [{ role: "user", content: "a\ud800" }], "lone surrogate"],
    ["image to no user", [user, asks(call("a")), { ...result("a"), content: [{ type: "image_url" }] }], "not allowed"],
  ])("refuses: %s", (_name, messages, problem) => {
    expect(openAI(messages).join("\n")).toContain(problem);
  });

  it("refuses wrong tools and unknown top-level keys", () => {
    expect(openAI([user], { tools: [] })).toEqual(["tools: must be a non-empty array"]);
    expect(openAI([user], { tools: [tool, tool] }).join()).toContain("given twice");
    expect(openAI([user], { thinkingLevel: "high" })).toEqual(["body.thinkingLevel: unknown key"]);
    expect(checkOpenAIRequest({ model: "m", messages: [user], stop: "x" }, { forbiddenKeys: ["stop"] })).toHaveLength(
      1,
    );
    const rules = { forbiddenSchemaKeywords: ["const"], extraKeys: ["reasoning"] };
    const properties = { const: { type: "string" }, a: { const: 1 } };
    const strictTool = { type: "function", function: { name: "t", parameters: { type: "object", properties } } };
    const body = { model: "m", messages: [user], reasoning: {}, tools: [strictTool] };
    expect(checkOpenAIRequest(body, rules)).toEqual([
      "tools[0].function.parameters.properties.a.const: unknown schema keyword",
    ]);
  });
});

const use = (id: string) => ({ type: "tool_use", id, name: "bash", input: {} });
const answer = (id: string, more: object = {}) => ({ type: "tool_result", tool_use_id: id, content: "ok", ...more });
const says = (...content: unknown[]) => ({ role: "assistant", content });
const tells = (...content: unknown[]) => ({ role: "user", content });
const said = { type: "text", text: "x" };
const anthropic = (messages: unknown[], more: object = {}) =>
  checkAnthropicRequest({ model: "m", max_tokens: 4096, stream: true, messages, ...more });

describe("the strict Messages checker", () => {
  it("takes a whole conversation", () => {
    const thought = { type: "thinking", thinking: "hm", signature: "s" };
    const cached = { ...said, cache_control: { type: "ephemeral" } };
    const messages = [
      user,
      says(thought, said, use("a"), use("b")),
      tells(answer("b"), answer("a", { is_error: true }), said),
      says({ type: "redacted_thinking", data: "xx" }, said),
      tells(cached),
    ];
    const tools = [{ name: "bash", input_schema: { type: "object" }, cache_control: { type: "ephemeral" } }];
    expect(
      anthropic(messages, { tools, system: [cached], thinking: { type: "enabled", budget_tokens: 1024 } }),
    ).toEqual([]);
  });

  it.each([
    ["assistant first", [says(said), user], "first message"],
    ["assistant last", [user, says(said)], "last message"],
    ["same role twice", [user, user], "alternate"],
    ["no result", [user, says(use("a")), user], "no result directly after"],
    ["result one turn late", [user, says(use("a")), user, says(said), tells(answer("a"))], "no result directly after"],
    ["orphan", [tells(answer("a"))], "no call directly before"],
    ["results not first", [user, says(use("a")), tells(said, answer("a"))], "must come first"],
    ["empty text", [tells({ type: "text", text: "  " })], "non-whitespace"],
    ["empty content", [tells()], "non-empty array"],
    ["empty error result", [user, says(use("a")), tells(answer("a", { content: [], is_error: true }))], "is_error"],
    ["id characters", [user, says(use("a|b")), tells(answer("a|b"))], "must match"],
    ["unsigned thinking", [user, says({ type: "thinking", thinking: "x", signature: "" }, said), user], "signature"],
    ["thinking last", [user, says({ type: "thinking", thinking: "x", signature: "s" }), user], "final block"],
    [
      "image type",
      [tells({ type: "image", source: { type: "base64", media_type: "image/bmp", data: "AA" } })],
      "supported",
    ],
    ["tool_use of a user", [tells(use("a"))], "not allowed here"],
    ["input no object", [user, says({ ...use("a"), input: [] }), tells(answer("a"))], "must be an object"],
  ])("refuses: %s", (_name, messages, problem) => {
    expect(anthropic(messages).join("\n")).toContain(problem);
  });

  it("refuses wrong limits, tools and too many breakpoints", () => {
    expect(anthropic([user], { max_tokens: 0 }).join()).toContain("positive integer");
    expect(anthropic([user], { thinking: { type: "enabled", budget_tokens: 4096 } }).join()).toContain("greater than");
    expect(anthropic([user], { thinking: { type: "enabled", budget_tokens: 10 } }).join()).toContain("at least 1024");
    expect(anthropic([user], { tools: [{ name: "t", input_schema: { anyOf: [] } }] }).join()).toContain("top level");
    const cached = { ...said, cache_control: { type: "ephemeral" } };
    expect(anthropic([tells(cached, cached, cached, cached, cached)]).join()).toContain("at most 4");
    const thought = { type: "thinking", thinking: "hm", signature: "foreign" };
    const body = { model: "m", max_tokens: 1, messages: [user, says(thought, said), user] };
    expect(checkAnthropicRequest(body, { knownSignatures: new Set(["mine"]) }).join()).toContain("Invalid `signature`");
  });
});
