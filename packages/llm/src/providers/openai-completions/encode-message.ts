import type {
  AssistantMessage,
  ImageContent,
  Message,
  TextContent,
  ThinkingContent,
  ToolCall,
  ToolResultMessage,
  UserMessage,
} from "../../protocol/message.ts";
import { nestedTooDeep } from "../../stream/arguments.ts";
import { encodeJson, isRecord, parseJson } from "../../stream/json.ts";
import { systemChangeText } from "../history/request-head.ts";
import type { ServerTraits } from "./compat.ts";
import { MISTRAL_THINKING, PLAIN_FIELDS } from "./reasoning.ts";

/** What the form of a message depends on, besides itself. */
export interface MessageStyle {
  key: string;
  traits: ServerTraits;
  systemRole: "system" | "developer";
  reasoning: boolean;
}

// Servers refuse a message without a text.
const EMPTY_USER = "(empty message)";
// Google's word for a call that another model made; Gemini 3 takes no call without a signature.
// https://ai.google.dev/gemini-api/docs/thought-signatures
const PLACEHOLDER_SIGNATURE = "skip_thought_signature_validator";
const NO_IMAGES: readonly unknown[] = [];

/** The images of a message in the form of this API, which takes them in user messages only. */
export function imageParts(content: readonly (TextContent | ImageContent)[]): readonly unknown[] {
  if (!content.some((block) => block.type === "image")) return NO_IMAGES;
  return content.flatMap((block) =>
    block.type === "image"
      ? [{ type: "image_url", image_url: { url: `data:${block.mimeType};base64,${block.data}` } }]
      : [],
  );
}

/** The message in the form of this API; undefined when it has nothing for the model. */
export function wireValue(message: Message, style: MessageStyle): Record<string, unknown> | undefined {
  switch (message.role) {
    case "user":
      return { role: "user", content: userContent(message) };
    case "assistant":
      return assistantValue(message, style);
    case "toolResult":
      return resultValue(message, style.traits);
    case "system": {
      const content = systemChangeText(message);
      return content === "" ? undefined : { role: style.systemRole, content };
    }
  }
}

function userContent({ content }: UserMessage): unknown {
  if (typeof content === "string") return content.trim() === "" ? EMPTY_USER : content;
  const text = textOf(content);
  const images = imageParts(content);
  if (images.length === 0) return text.trim() === "" ? EMPTY_USER : text;
  return content.flatMap((block): readonly unknown[] => {
    if (block.type === "image") return imageParts([block]);
    return block.text === "" ? [] : [{ type: "text", text: block.text }];
  });
}

function resultValue(message: ToolResultMessage, traits: ServerTraits): Record<string, unknown> {
  const text = textOf(message.content);
  const images = message.content.some((block) => block.type === "image");
  const content = text !== "" ? text : images ? "(the image follows)" : "(no output)";
  return {
    role: "tool",
    tool_call_id: message.toolCallId,
    ...(traits.toolResultName ? { name: message.toolName } : {}),
    content,
  };
}

function assistantValue(message: AssistantMessage, style: MessageStyle): Record<string, unknown> | undefined {
  const { traits } = style;
  const only = message.content.length === 1 ? message.content[0] : undefined;
  if (only && only.type !== "thinking" && !needsReasoning(style)) return soleBlockValue(only, traits);
  const text = textOf(message.content);
  const calls = message.content.filter((block) => block.type === "toolCall");
  const thoughts = traits.reasoningBack ? message.content.filter((block) => block.type === "thinking") : [];
  const asText = traits.thinkingAsText ? thinkingText(thoughts) : "";
  const said = [asText, text].filter((part) => part !== "").join("\n");
  // An answer of nothing but thoughts cannot be said on this API.
  if (said === "" && calls.length === 0) return undefined;
  const spoken = said !== "" ? contentWith(thoughts, said, traits) : traits.nonNullAssistantContent ? "" : null;
  const value: Record<string, unknown> = { role: "assistant", content: spoken };
  if (!traits.thinkingAsText) Object.assign(value, reasoningFields(thoughts, style));
  if (calls.length > 0) value.tool_calls = callValues(calls, traits.callSignatures && !value.reasoning_details);
  return value;
}

/** What nearly every answer is: a text or a call. */
function soleBlockValue(block: TextContent | ToolCall, traits: ServerTraits): Record<string, unknown> | undefined {
  if (block.type === "text") return block.text === "" ? undefined : { role: "assistant", content: block.text };
  return {
    role: "assistant",
    content: traits.nonNullAssistantContent ? "" : null,
    tool_calls: callValues([block], traits.callSignatures),
  };
}

/** Whether an answer without thoughts has to say that it has none. */
function needsReasoning({ traits, reasoning }: MessageStyle): boolean {
  return traits.reasoningOnAssistant && reasoning && traits.reasoningBack && !traits.thinkingAsText;
}

/** The content, with Mistral's thinking parts before it when the thoughts came as such. */
function contentWith(thoughts: readonly ThinkingContent[], said: string, traits: ServerTraits): unknown {
  if (traits.thinkingAsText) return said;
  const parts = thoughts
    .filter((thought) => thought.thinkingSignature === MISTRAL_THINKING)
    .map((thought) => ({ type: "thinking", thinking: [{ type: "text", text: thought.thinking }] }));
  return parts.length === 0 ? said : [...parts, { type: "text", text: said }];
}

function thinkingText(thoughts: readonly ThinkingContent[]): string {
  const text = thoughts.map(({ thinking }) => thinking).filter((thinking) => thinking !== "");
  return text.length === 0 ? "" : `<thinking>\n${text.join("\n")}\n</thinking>`;
}

/** Thoughts in the fields they came in: what their signatures say, see `reasoning.ts`. */
function reasoningFields(thoughts: readonly ThinkingContent[], style: MessageStyle): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  const details: unknown[] = [];
  for (const { thinking, thinkingSignature = "" } of thoughts) {
    const meta = thinkingSignature.startsWith("{") ? parseJson(thinkingSignature) : undefined;
    if (isRecord(meta) && !nestedTooDeep(meta)) details.push(detailWithText(meta, thinking));
    else if (PLAIN_FIELDS.has(thinkingSignature)) {
      const known = fields[thinkingSignature];
      fields[thinkingSignature] = typeof known === "string" ? `${known}\n${thinking}` : thinking;
    }
  }
  if (details.length > 0) fields.reasoning_details = details;
  const missing = needsReasoning(style) && fields.reasoning_content === undefined;
  return missing ? { ...fields, reasoning_content: "" } : fields;
}

function detailWithText(meta: Record<string, unknown>, thinking: string): Record<string, unknown> {
  if (meta.type === "reasoning.encrypted") return meta;
  return { ...meta, [meta.type === "reasoning.summary" ? "summary" : "text"]: thinking };
}

/** The calls of one answer. @param signed one of them needs a signature: the first gets the placeholder when none has its own */
function callValues(calls: readonly ToolCall[], signed: boolean): Record<string, unknown>[] {
  const [first, ...others] = calls;
  if (!first || !signed || calls.some(({ thoughtSignature }) => thoughtSignature)) return calls.map(callValue);
  return [{ ...first, thoughtSignature: PLACEHOLDER_SIGNATURE }, ...others].map(callValue);
}

function callValue(call: ToolCall): Record<string, unknown> {
  const { id, name, thoughtSignature } = call;
  const value = { id, type: "function", function: { name, arguments: encodeJson(call.arguments) } };
  if (!thoughtSignature) return value;
  return { ...value, extra_content: { google: { thought_signature: thoughtSignature } } };
}

function textOf(content: readonly { type: string; text?: string }[]): string {
  // Nearly every message: no list on the way.
  const only = content.length === 1 ? content[0] : undefined;
  if (only?.type === "text") return only.text ?? "";
  return content.flatMap((block) => (block.type === "text" && block.text ? [block.text] : [])).join("\n");
}
