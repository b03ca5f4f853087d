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
import { encodeJson, isRecord, parseJson } from "../../stream/json.ts";
import { systemChangeText } from "../head.ts";
import type { ServerTraits } from "./compat.ts";
import { MISTRAL_THINKING, PLAIN_FIELDS } from "./reasoning.ts";

/** One message on the wire. */
export interface WireMessage {
  /** JSON text; undefined when the message has nothing for the model. */
  json: string | undefined;
  /** Parts that this API takes in a user message only: the images of a tool result. */
  images: readonly unknown[];
  /** UTF-8 bytes of the text, images not counted. */
  bytes: number;
}

/** What the form of a message depends on, besides itself. */
export interface MessageStyle {
  key: string;
  traits: ServerTraits;
  systemRole: "system" | "developer";
  reasoning: boolean;
}

const encoded = new WeakMap<Message, { key: string; wire: WireMessage }>();

/** The message as JSON text, made once for each message and style (O1): later requests join the same texts. */
export function encodeMessage(message: Message, style: MessageStyle): WireMessage {
  const known = encoded.get(message);
  if (known?.key === style.key) return known.wire;
  const images = message.role === "toolResult" ? imageParts(message.content) : [];
  const value = wireValue(message, style);
  const json = value && encodeJson(value);
  const wire: WireMessage = { json, images, bytes: textBytes(value, json ?? "") };
  encoded.set(message, { key: style.key, wire });
  return wire;
}

/** The parts of an image on this API's wire. */
function imageParts(content: readonly (TextContent | ImageContent)[]): unknown[] {
  return content.flatMap((block) =>
    block.type === "image"
      ? [{ type: "image_url", image_url: { url: `data:${block.mimeType};base64,${block.data}` } }]
      : [],
  );
}

function textBytes(value: Record<string, unknown> | undefined, json: string): number {
  const parts = Array.isArray(value?.content) ? value.content.filter(isRecord) : [];
  const images = parts.filter((part) => part.type === "image_url");
  return Buffer.byteLength(json) - (images.length === 0 ? 0 : JSON.stringify(images).length);
}

function wireValue(message: Message, style: MessageStyle): Record<string, unknown> | undefined {
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
  if (typeof content === "string") return content;
  const text = textOf(content);
  const images = imageParts(content);
  if (images.length === 0) return text === "" ? "(empty message)" : text;
  return content.flatMap((block): unknown[] => {
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
  const text = textOf(message.content);
  const calls = message.content.filter((block) => block.type === "toolCall");
  const thoughts = message.content.filter((block) => block.type === "thinking");
  const asText = traits.thinkingAsText ? thinkingText(thoughts) : "";
  const said = [asText, text].filter((part) => part !== "").join("\n");
  // An answer of nothing but thoughts cannot be said on this API.
  if (said === "" && calls.length === 0) return undefined;
  const spoken = said !== "" ? contentWith(thoughts, said, traits) : traits.nonNullAssistantContent ? "" : null;
  return {
    role: "assistant",
    content: spoken,
    ...(traits.thinkingAsText ? {} : reasoningFields(thoughts, style)),
    ...(calls.length > 0 ? { tool_calls: calls.map(callValue) } : {}),
  };
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
    if (isRecord(meta)) details.push(detailWithText(meta, thinking));
    else if (PLAIN_FIELDS.has(thinkingSignature)) {
      const known = fields[thinkingSignature];
      fields[thinkingSignature] = typeof known === "string" ? `${known}\n${thinking}` : thinking;
    }
  }
  if (details.length > 0) fields.reasoning_details = details;
  const missing = style.traits.reasoningOnAssistant && style.reasoning && fields.reasoning_content === undefined;
  return missing ? { ...fields, reasoning_content: "" } : fields;
}

function detailWithText(meta: Record<string, unknown>, thinking: string): Record<string, unknown> {
  if (meta.type === "reasoning.encrypted") return meta;
  return { ...meta, [meta.type === "reasoning.summary" ? "summary" : "text"]: thinking };
}

function callValue(call: ToolCall): Record<string, unknown> {
  const google = call.thoughtSignature && { extra_content: { google: { thought_signature: call.thoughtSignature } } };
  return {
    id: call.id,
    type: "function",
    function: { name: call.name, arguments: encodeJson(call.arguments) },
    ...google,
  };
}

function textOf(content: readonly { type: string; text?: string }[]): string {
  return content.flatMap((block) => (block.type === "text" && block.text ? [block.text] : [])).join("\n");
}
