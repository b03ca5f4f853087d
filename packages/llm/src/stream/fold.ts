import type { WireEvent } from "../protocol/events.ts";
import type { AssistantContent, AssistantMessage, ToolCall } from "../protocol/message.ts";
import { ToolCallDraft } from "./tool-call-draft.ts";

/** The draft behind a tool call that `foldWireEvent` made, and its text at that time. */
const drafts = new WeakMap<AssistantContent, { draft: ToolCallDraft; text: string }>();

/**
 * The message after one more event, for clients who get events without `partial` (begin with `emptyAssistantMessage`).
 * A pure function: `message` is not changed, a repeated call gives an equal result. The end events bring the message
 * of record. Deltas whose start was missed open their block themselves.
 */
export function foldWireEvent(message: AssistantMessage, event: WireEvent): AssistantMessage {
  switch (event.type) {
    case "start":
      return message;
    case "text_start":
      return put(message, event.contentIndex, { type: "text", text: "" });
    case "text_delta": {
      const block = message.content[event.contentIndex];
      const text = block?.type === "text" ? block : { type: "text" as const, text: "" };
      return put(message, event.contentIndex, { ...text, text: text.text + event.delta });
    }
    case "text_end":
      return put(message, event.contentIndex, { type: "text", text: event.content });
    case "thinking_start":
      return put(message, event.contentIndex, { type: "thinking", thinking: "" });
    case "thinking_delta": {
      const block = message.content[event.contentIndex];
      const thinking = block?.type === "thinking" ? block : { type: "thinking" as const, thinking: "" };
      return put(message, event.contentIndex, { ...thinking, thinking: thinking.thinking + event.delta });
    }
    case "thinking_end":
      return put(message, event.contentIndex, { type: "thinking", thinking: event.content });
    case "toolcall_start":
      return put(message, event.contentIndex, startCall(event.id, event.name));
    case "toolcall_delta":
      return put(message, event.contentIndex, growCall(message.content[event.contentIndex], event.delta));
    case "toolcall_end":
      return put(message, event.contentIndex, event.toolCall);
    case "done":
      return event.message;
    case "error":
      return event.error;
  }
}

function put(message: AssistantMessage, contentIndex: number, block: AssistantContent): AssistantMessage {
  const content = message.content.slice();
  while (content.length < contentIndex) content.push({ type: "text", text: "" });
  content[contentIndex] = block;
  return { ...message, content };
}

function startCall(id: string, name: string): ToolCall {
  return known(new ToolCallDraft({ id, name }));
}

function growCall(block: AssistantContent | undefined, delta: string): ToolCall {
  const before = block && drafts.get(block);
  // Texts of one draft grow only, so an equal length means that nobody continued from this block yet.
  if (before && before.draft.text.length === before.text.length) {
    before.draft.append(delta);
    return known(before.draft);
  }
  const call = block?.type === "toolCall" ? block : { id: "", name: "" };
  const draft = new ToolCallDraft(call);
  draft.append((before?.text ?? "") + delta);
  return known(draft);
}

function known(draft: ToolCallDraft): ToolCall {
  const block = draft.block();
  drafts.set(block, { draft, text: draft.text });
  return block;
}
