import fc from "fast-check";
import type { AssistantContent, AssistantMessage, Message, ToolCall } from "../../protocol/message.ts";
import { noUsage } from "../../stream/usage.ts";

/** Origins of assistant messages: `own` is the model that the request goes to. */
export interface Origin {
  api: string;
  provider: string;
  model: string;
}

const awkward = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.constantFrom("hello", " ", "", "a\n", "  b  ", "\ud800 lone", "日本語", '{"a":1}', "\u2028", "x".repeat(70)),
);
const text = awkward.map((value) => ({ type: "text" as const, text: value }));
const image = fc
  .constantFrom("image/png", "image/jpg", "image/bmp", "image/webp")
  .map((mimeType) => ({ type: "image" as const, data: "iVBORw0KGgo=", mimeType }));
const visible = fc.array(fc.oneof(text, image), { maxLength: 3 });
const user = fc
  .oneof(awkward, visible)
  .map((content): Message => ({ role: "user", content, timestamp: 0 }));

const thinking = fc
  .record({ thinking: awkward, signed: fc.boolean(), redacted: fc.boolean() })
  .map(({ thinking, signed, redacted }): AssistantContent => {
    if (redacted) return { type: "thinking", thinking: "", thinkingSignature: "payload", redacted: true };
    return { type: "thinking", thinking, ...(signed ? { thinkingSignature: "signature" } : {}) };
  });

const call = fc
  .record({
    id: fc.constantFrom("call_", "toolu_", "call_abc|fc_", `${"long".repeat(20)}`, "ü "),
    name: fc.constantFrom("read", "bash", "a.b c/ü", "", "n".repeat(100)),
    arguments: fc.oneof(fc.constant({}), fc.dictionary(fc.string({ maxLength: 3 }), awkward, { maxKeys: 2 })),
    broken: fc.boolean(),
  })
  .map(({ broken, ...rest }): AssistantContent => ({
    type: "toolCall",
    ...rest,
    ...(broken ? { invalidArguments: { raw: "{", error: "cut" } } : {}),
  }));

const round = fc.record({
  own: fc.boolean(),
  content: fc.array(fc.oneof(text, thinking, call), { maxLength: 5 }),
  stopReason: fc.constantFrom("stop", "length", "error", "aborted"),
  results: fc.infiniteStream(fc.record({ content: visible, isError: fc.boolean() })),
  users: fc.array(user, { maxLength: 2 }),
});

/** Transcripts that hold law B5: calls answered directly, ids unique; anything else may be in them. It ends ready for a request. */
export function anyTranscript(own: Origin): fc.Arbitrary<Message[]> {
  const foreign: Origin = { api: "other-api", provider: "other", model: "other-model" };
  return fc.tuple(user, fc.array(round, { maxLength: 6 }), user).map(([first, rounds, last]) => {
    const messages: Message[] = [first];
    for (const [index, { content, results, users, stopReason, ...rest }] of rounds.entries()) {
      const unique = content.map((block, at) => (block.type === "toolCall" ? { ...block, id: `${block.id}${index}_${at}` } : block));
      const message: AssistantMessage = {
        ...{ role: "assistant", content: unique, usage: noUsage(), stopReason, timestamp: 0 },
        ...(rest.own ? own : foreign),
      };
      messages.push(message);
      const calls = unique.filter((block): block is ToolCall => block.type === "toolCall");
      for (const { id, name } of calls) {
        const { content, isError } = results.next().value ?? { content: [], isError: false };
        messages.push({ role: "toolResult", toolCallId: id, toolName: name, content, isError, timestamp: 0 });
      }
      messages.push(...users);
    }
    return [...messages, last];
  });
}
