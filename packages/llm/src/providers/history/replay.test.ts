import { describe, expect, it } from "vitest";
import type { AssistantContent, AssistantMessage, Message } from "../../protocol/message.ts";
import { noUsage } from "../../stream/usage.ts";
import { scriptedModel } from "../../testing.ts";
import { type ReplayTarget, replayMessages } from "./replay.ts";
import { TOOL_ID_RULES } from "./wire-names.ts";

const claude = scriptedModel({ api: "anthropic-messages", provider: "anthropic", id: "claude" });
const target: ReplayTarget = { model: claude, toolIds: TOOL_ID_RULES.anthropic };
const others: ReplayTarget[] = [
  { ...target, model: { ...claude, id: "claude-2" } },
  { ...target, model: { ...claude, provider: "proxy" } },
  { ...target, model: { ...claude, api: "openai-completions" } },
];

const says = (content: AssistantContent[], more: Partial<AssistantMessage> = {}): AssistantMessage => ({
  ...{ role: "assistant", api: "anthropic-messages", provider: "anthropic", model: "claude", content },
  ...{ usage: noUsage(), stopReason: "stop", timestamp: 0, ...more },
});
const contentFor = (message: Message, to: ReplayTarget) => replayMessages([message], to)[0]?.content;

const thought: AssistantContent = { type: "thinking", thinking: "hm", thinkingSignature: "sig" };
const redacted: AssistantContent = { type: "thinking", thinking: "", thinkingSignature: "xx", redacted: true };
const said: AssistantContent = { type: "text", text: "hi", textSignature: "ts" };
const call: AssistantContent = { type: "toolCall", id: "call_1", name: "read", arguments: {}, thoughtSignature: "gem" };

describe("what a model sees of the history", () => {
  it("R029 signatures go back to the same api, provider and model only", () => {
    const message = says([thought, redacted, said, call]);
    expect(contentFor(message, target)).toEqual([thought, redacted, said, call]);
    const { thoughtSignature: _, ...plainCall } = call as typeof call & { thoughtSignature: string };
    for (const other of others) expect(contentFor(message, other)).toEqual([{ type: "text", text: "hi" }, plainCall]);
    expect(contentFor(message, target)).toEqual([thought, redacted, said, call]);
  });

  it("R028 foreign thinking is dropped, or text where there is nothing else", () => {
    for (const other of others) {
      expect(contentFor(says([thought, redacted]), other)).toEqual([{ type: "text", text: "hm" }]);
      expect(replayMessages([says([redacted])], other)).toEqual([]);
      expect(contentFor(says([thought, { type: "text", text: " \n" }]), other)).toEqual([{ type: "text", text: "hm" }]);
    }
  });

  it("keeps what a failed answer had and leaves out an empty one", () => {
    const failed = { stopReason: "error", errorMessage: "x" } as const;
    const unsigned: AssistantContent = { type: "thinking", thinking: "cut of" };
    expect(contentFor(says([thought, unsigned, said], failed), target)).toEqual([thought, said]);
    expect(contentFor(says([unsigned, said]), target)).toEqual([unsigned, said]);
    expect(
      replayMessages([says([], failed), says([unsigned], failed), says([{ type: "text", text: "" }])], target),
    ).toEqual([]);
    expect(contentFor(says([call], { stopReason: "aborted" }), target)).toEqual([call]);
  });

  it("R027 call and result meet under the same id and name", () => {
    const id = "call_abc|fc_123";
    const name = "a.b c/ü";
    const content = [{ type: "text" as const, text: "ok" }];
    const messages: Message[] = [
      says([{ type: "toolCall", id, name, arguments: {} }]),
      {
        role: "toolResult",
        toolCallId: id,
        toolName: name,
        content,
        details: { secret: 1 },
        isError: false,
        timestamp: 0,
      },
    ];
    const rule = { model: claude, toolIds: TOOL_ID_RULES.mistral };
    const [asked, answered] = replayMessages(messages, rule);
    const block = asked?.role === "assistant" ? asked.content[0] : undefined;
    if (block?.type !== "toolCall" || answered?.role !== "toolResult") throw new Error("lost");
    expect(block.id).toMatch(/^[A-Za-z0-9]{9}$/);
    expect(block.name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(answered).toMatchObject({ toolCallId: block.id, toolName: block.name });
  });

  it("images become a note for a model without eyes", () => {
    const image = { type: "image" as const, data: "AA", mimeType: "image/png" };
    const user: Message = { role: "user", content: [{ type: "text", text: "look" }, image], timestamp: 0 };
    const result: Message = {
      role: "toolResult",
      toolCallId: "a",
      toolName: "read",
      content: [image],
      isError: false,
      timestamp: 0,
    };
    const blind: ReplayTarget = { ...target, model: { ...claude, input: ["text"] } };
    const note = { type: "text", text: expect.stringContaining("image/png") };
    expect(contentFor(user, blind)).toEqual([{ type: "text", text: "look" }, note]);
    expect(contentFor(result, blind)).toEqual([note]);
    expect(contentFor(user, target)).toEqual(user.content);
  });

  it("O1 gives the same objects again for the same target", () => {
    const messages: Message[] = [{ role: "user", content: "a", timestamp: 0 }, says([thought, said, call])];
    const first = replayMessages(messages, target);
    const later = replayMessages([...messages, says([said])], { ...target, model: { ...claude } });
    expect(later[0]).toBe(messages[0]);
    expect(later[1]).toBe(messages[1]);
    const [foreign] = others;
    if (!foreign) throw new Error("no other target");
    const sent = replayMessages(messages, foreign);
    expect(sent[1]).not.toBe(messages[1]);
    replayMessages(messages, target);
    expect(replayMessages(messages, foreign)[1]).toBe(sent[1]);
    expect(first[1]).toBe(messages[1]);
  });
});
