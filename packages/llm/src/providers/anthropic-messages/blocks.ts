import type {
  AssistantMessage,
  ImageContent,
  Message,
  TextContent,
  ToolResultMessage,
} from "../../protocol/message.ts";
import { encodeJson } from "../../stream/json.ts";
import { systemChangeText } from "../head.ts";

/** A message of the transcript as content blocks of the API, each as JSON text. */
export interface EncodedMessage {
  role: "user" | "assistant" | "system";
  blocks: readonly string[];
  /** UTF-8 bytes of the blocks, without image data. */
  bytes: number;
}

type Block = Record<string, unknown>;

const EMPTY_USER = "(empty message)";
const EMPTY_RESULT = "(no output)";
const IMAGE_TYPES = ["image/jpeg", "image/png", "image/gif", "image/webp"];

// By message and not by model: replayed messages are objects of their own for each target.
const encoded = { signed: new WeakMap<Message, EncodedMessage>(), unsigned: new WeakMap<Message, EncodedMessage>() };

/**
 * The blocks of a replayed message; computed once for each message object. Without blocks it must be left out.
 *
 * @param emptySignatures the server signs no thinking and takes it back so
 */
export function encodeMessage(message: Message, { emptySignatures = false } = {}): EncodedMessage {
  const known = emptySignatures ? encoded.unsigned : encoded.signed;
  let result = known.get(message);
  if (!result) {
    const blocks = blocksOf(message, emptySignatures);
    const texts = blocks.map((block) => encodeJson(block));
    const images = blocks.reduce((sum, block) => sum + imageBytes(block), 0);
    const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), -images);
    result = { role: roleOf(message), blocks: texts, bytes };
    known.set(message, result);
  }
  return result;
}

function roleOf({ role }: Message): EncodedMessage["role"] {
  return role === "toolResult" ? "user" : role;
}

function blocksOf(message: Message, emptySignatures: boolean): Block[] {
  switch (message.role) {
    case "user": {
      const content = typeof message.content === "string" ? [text(message.content)] : message.content;
      return filled(content, EMPTY_USER);
    }
    case "toolResult":
      return [resultBlock(message)];
    case "assistant":
      return assistantBlocks(message, emptySignatures);
    case "system":
      return [text(systemChangeText(message))].filter((block) => block.text.trim() !== "");
  }
}

const text = (value: string) => ({ type: "text" as const, text: value });

/** Text and images; the API refuses blank text and empty lists. */
function filled(content: readonly (TextContent | ImageContent)[], placeholder: string): Block[] {
  const blocks = content.flatMap((block): Block[] => {
    if (block.type === "image") return [imageBlock(block)];
    return block.text.trim() === "" ? [] : [text(block.text)];
  });
  return blocks.length > 0 ? blocks : [text(placeholder)];
}

function imageBlock({ data, mimeType }: ImageContent): Block {
  const media = mimeType === "image/jpg" ? "image/jpeg" : mimeType;
  if (!IMAGE_TYPES.includes(media)) return text(`[An image (${mimeType}) was here. This API does not take its type.]`);
  return { type: "image", source: { type: "base64", media_type: media, data } };
}

function resultBlock({ toolCallId, content, isError }: ToolResultMessage): Block {
  return {
    ...{ type: "tool_result", tool_use_id: toolCallId, content: filled(content, EMPTY_RESULT) },
    ...(isError ? { is_error: true } : {}),
  };
}

function assistantBlocks(message: AssistantMessage, emptySignatures: boolean): Block[] {
  const blocks = message.content.flatMap((block): Block[] => {
    if (block.type === "text") return block.text.trim() === "" ? [] : [text(block.text)];
    if (block.type === "toolCall")
      return [{ type: "tool_use", id: block.id, name: block.name, input: block.arguments }];
    if (block.redacted)
      return block.thinkingSignature ? [{ type: "redacted_thinking", data: block.thinkingSignature }] : [];
    const { thinking, thinkingSignature: signature = "" } = block;
    // Without its signature thinking cannot go back; some compatible servers sign nothing and take it so.
    return signature || emptySignatures ? [{ type: "thinking", thinking, signature }] : [];
  });
  return endOfTurn(blocks, message);
}

const isThinking = (block: Block | undefined) => block?.type === "thinking" || block?.type === "redacted_thinking";

/** An assistant message must not end in thinking, and its last text not in blanks. */
function endOfTurn(blocks: Block[], message: AssistantMessage): Block[] {
  const end = blocks.findLastIndex((block) => !isThinking(block)) + 1;
  const kept = blocks.slice(0, end);
  const last = kept.at(-1);
  if (last?.type === "text") return [...kept.slice(0, -1), text(String(last.text).trimEnd())];
  if (last) return kept;
  // All it did was to think: said as text it can stay.
  const thoughts = message.content.flatMap((block) => (block.type === "thinking" ? [block.thinking.trim()] : []));
  return thoughts.filter((thought) => thought !== "").map(text);
}

function imageBytes(block: Block): number {
  const inner = Array.isArray(block.content) ? block.content : [block];
  return inner.reduce((sum: number, { source }) => sum + (source ? source.data.length : 0), 0);
}
