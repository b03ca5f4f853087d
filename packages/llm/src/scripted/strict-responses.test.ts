import { describe, expect, it } from "vitest";
import { checkResponsesRequest } from "../testing.ts";

const user = { role: "user", content: "hi" };
const call = (call_id: unknown, more: object = {}) => ({
  type: "function_call",
  call_id,
  name: "bash",
  arguments: "{}",
  ...more,
});
const output = (call_id: unknown, more: object = {}) => ({
  type: "function_call_output",
  call_id,
  output: "ok",
  ...more,
});
const reasoning = (id: string, more: object = {}) => ({
  type: "reasoning",
  id,
  summary: [],
  encrypted_content: "enc",
  ...more,
});
const said = (id: unknown, more: object = {}) => ({
  ...{ type: "message", role: "assistant", id, status: "completed" },
  content: [{ type: "output_text", text: "x", annotations: [] }],
  ...more,
});
const image = { type: "input_image", image_url: "data:image/png;base64,AAAA", detail: "auto" };
const tool = { type: "function", name: "bash", description: "", parameters: { type: "object" }, strict: false };
const check = (input: unknown, more: object = {}, rules = {}) =>
  checkResponsesRequest({ model: "m", stream: true, store: false, input, ...more }, rules);

describe("the strict Responses checker", () => {
  it("takes a whole conversation", () => {
    const input = [
      { role: "user", content: [{ type: "input_text", text: "look" }, image] },
      ...[reasoning("rs_1"), said("msg_1", { phase: "commentary" }), call("a"), call("b", { id: "fc_b" })],
      ...[output("b", { output: [image] }), output("a"), reasoning("rs_2"), call("c"), output("c")],
      ...[{ role: "assistant", content: "done" }, user],
    ];
    const fields = { instructions: "be good", tools: [tool], max_output_tokens: 16, reasoning: { effort: "none" } };
    expect(check(input, { ...fields, include: ["reasoning.encrypted_content"], prompt_cache_key: "s" })).toEqual([]);
    expect(check("hi")).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    ["no result", [user, call("a"), user], "no result directly after"],
    ["open at the end", [user, call("a")], "no result directly after"],
    [
      "next turn before the result",
      [user, call("a"), call("b"), output("b"), call("c"), output("c"), output("a")],
      "no result directly after",
    ],
    ["answered twice", [user, call("a"), output("a"), output("a")], "no call directly before"],
    ["orphan result", [user, output("x")], "no call directly before"],
    ["id used twice", [user, call("a"), call("a"), output("a")], "used twice"],
    ["item twice", [user, said("msg_1"), said("msg_1"), user], "used twice"],
    ["id null", [user, call(null), output("a")], "must be a non-empty string, is null"],
    ["id too long", [user, call("x".repeat(65)), output("x".repeat(65))], "must match"],
    ["item id of another kind", [user, call("a", { id: "call_a" }), output("a")], "must begin with 'fc'"],
    ["message id of another kind", [user, said("resp_1"), user], "must begin with 'msg'"],
    ["message half", [user, said(undefined), user], "must be a non-empty string, is missing"],
    ["phase", [user, said("msg_1", { phase: "x" }), user], "phase: is unknown"],
    ["arguments cut", [user, call("a", { arguments: '{"a":' }), output("a")], "not valid JSON"],
    ["arguments empty", [user, call("a", { arguments: "" }), output("a")], "non-empty string"],
    ["arguments an object", [user, call("a", { arguments: {} }), output("a")], "non-empty string"],
    ["name", [user, call("a", { name: "a b" }), output("a")], "must match"],
    ["role", [{ role: "tool", content: "x" }], "unknown role"],
    ["item", [user, { type: "item_reference", id: "rs_1" }], "unknown item"],
    ["system late", [user, { role: "developer", content: "x" }], "after the conversation"],
    ["assistant last", [user, { role: "assistant", content: "x" }], "last item"],
    ["assistant empty", [user, { role: "assistant", content: "" }, user], "non-empty string"],
    ["no input", [], "non-empty array"],
    ["only system", [{ role: "system", content: "x" }], "no user message"],
    ["unknown key", [{ ...user, timestamp: 1 }], "unknown key"],
    ["chat part", [{ role: "user", content: [{ type: "text", text: "x" }] }], "not allowed here"],
    ["lone surrogate", [{ role: "user", content: "a\ud800" }], "lone surrogate"],
    ["reasoning alone", [user, reasoning("rs_1"), user], "item that must follow it"],
    ["reasoning last", [user, reasoning("rs_1")], "item that must follow it"],
    [
      "reasoning by reference",
      [user, reasoning("rs_1", { encrypted_content: undefined }), said("msg_1"), user],
      "encrypted_content",
    ],
    [
      "reasoning in the open",
      [user, reasoning("rs_1", { content: [{ type: "reasoning_text", text: "x" }] }), said("msg_1"), user],
      "must be empty",
    ],
    [
      "reasoning without summary",
      [user, { ...reasoning("rs_1"), summary: undefined }, said("msg_1"), user],
      "must be an array",
    ],
  ])("refuses: %s", (_name, input, problem) => {
    expect(check(input).join("\n")).toContain(problem);
  });

  it.each<[string, object, string]>([
    ["stored", { store: true }, "store"],
    ["store by default", { store: undefined }, "store"],
    ["messages", { messages: [user] }, "messages: unknown key"],
    ["a small limit", { max_output_tokens: 15 }, "at least 16"],
    ["the other limit", { max_tokens: 15 }, "unknown key"],
    ["temperature", { temperature: 1, reasoning: { effort: "low" } }, "not supported with reasoning"],
    ["effort", { reasoning: { effort: "off" } }, "reasoning.effort"],
    ["empty instructions", { instructions: "" }, "instructions"],
    ["a long cache key", { prompt_cache_key: "x".repeat(65) }, "at most 64"],
    ["include", { include: ["message.output_text.logprobs"] }, "include"],
    ["a nested tool", { tools: [{ type: "function", function: tool }] }, "tools[0].function: unknown key"],
    ["a strict tool", { tools: [{ ...tool, strict: undefined }] }, "strict"],
    ["a tool twice", { tools: [tool, tool] }, "given twice"],
    ["a choice of nothing", { tool_choice: "auto" }, "only allowed with tools"],
  ])("refuses: %s", (_name, more, problem) => {
    expect(check([user], more).join("\n")).toContain(problem);
  });

  it("takes what the rules allow, and refuses reasoning that it did not give out", () => {
    const plain = reasoning("rs_1", { encrypted_content: undefined, content: [{ type: "reasoning_text", text: "x" }] });
    expect(check([user, plain, said("msg_1"), user], {}, { plainReasoning: true })).toEqual([]);
    expect(check([user, { role: "system", content: "x" }], {}, { midSystem: true })).toEqual([]);
    const known = { knownSignatures: new Set(["enc"]) };
    expect(check([user, reasoning("rs_1"), said("msg_1"), user], {}, known)).toEqual([]);
    const foreign = reasoning("rs_1", { encrypted_content: "other" });
    expect(check([user, foreign, said("msg_1"), user], {}, known).join()).toContain("invalid_encrypted_content");
  });
});
