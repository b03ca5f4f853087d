import type {
  AssistantContent,
  AssistantMessage,
  ImageContent,
  Message,
  TextContent,
  ToolResultMessage,
} from "../../protocol/message.ts";
import { encodeJson } from "../../stream/json.ts";
import { systemChangeText } from "../history/request-head.ts";

/** A message of the transcript as content blocks of the API. */
export interface EncodedMessage {
  role: "user" | "assistant" | "system";
  /** The blocks as JSON text, with commas between them; empty when the message must be left out. */
  blocks: string;
  /** UTF-8 bytes of the blocks, without image data. */
  bytes: number;
}

type Visible = TextContent | ImageContent;

const EMPTY_USER = "(empty message)";
const EMPTY_RESULT = "(no output)";
// Also under the name that some programs give to JPEG.
const IMAGE_TYPES = ["image/jpg", "image/jpeg", "image/png", "image/gif", "image/webp"];

// By message and not by model: what a replayed message says does not depend on the model any more.
const encoded = { signed: new WeakMap<Message, EncodedMessage>(), unsigned: new WeakMap<Message, EncodedMessage>() };

/**
 * The blocks of a replayed message; computed once for each message object.
 *
 * @param emptySignatures the server signs no thinking and takes it back so
 */
export function encodeMessage(message: Message, { emptySignatures = false } = {}): EncodedMessage {
  const known = emptySignatures ? encoded.unsigned : encoded.signed;
  let result = known.get(message);
  if (!result) {
    const blocks = blocksOf(message, emptySignatures);
    const role = message.role === "toolResult" ? "user" : message.role;
    result = { role, blocks, bytes: Buffer.byteLength(blocks) - imageBytes(message) };
    known.set(message, result);
  }
  return result;
}

/** JSON text right away: a history of ten thousand messages pays for each object in between. */
function blocksOf(message: Message, emptySignatures: boolean): string {
  switch (message.role) {
    case "user":
      return typeof message.content === "string"
        ? textBlock(message.content.trim() === "" ? EMPTY_USER : message.content)
        : visibleBlocks(message.content, EMPTY_USER);
    case "toolResult":
      return resultBlock(message);
    case "assistant":
      return assistantBlocks(message, emptySignatures);
    case "system": {
      const text = systemChangeText(message);
      return text.trim() === "" ? "" : textBlock(text);
    }
  }
}

const textBlock = (text: string) => `{"type":"text","text":${encodeJson(text)}}`;

/** Text and images; the API refuses white-space text and empty lists. */
function visibleBlocks(content: readonly Visible[], placeholder: string): string {
  let blocks = "";
  for (const block of content) {
    if (block.type === "text" && block.text.trim() === "") continue;
    blocks += (blocks === "" ? "" : ",") + (block.type === "text" ? textBlock(block.text) : imageBlock(block));
  }
  return blocks === "" ? textBlock(placeholder) : blocks;
}

function imageBlock({ data, mimeType }: ImageContent): string {
  if (!IMAGE_TYPES.includes(mimeType)) {
    return textBlock(`[An image (${mimeType}) was here. This API does not take its type.]`);
  }
  const media = mimeType === "image/jpg" ? "image/jpeg" : mimeType;
  return encodeJson({ type: "image", source: { type: "base64", media_type: media, data } });
}

function resultBlock({ toolCallId, content, isError }: ToolResultMessage): string {
  const error = isError ? ',"is_error":true' : "";
  const blocks = visibleBlocks(content, EMPTY_RESULT);
  return `{"type":"tool_result","tool_use_id":${encodeJson(toolCallId)},"content":[${blocks}]${error}}`;
}

/** An assistant message must not end in thinking, and its last text not in white space. */
function assistantBlocks(message: AssistantMessage, emptySignatures: boolean): string {
  const { content } = message;
  const last = content.findLastIndex(
    (block) => block.type === "toolCall" || (block.type === "text" && block.text.trim() !== ""),
  );
  let blocks = "";
  for (let index = 0; index <= last; index++) {
    const block = content[index];
    const json = block ? assistantBlock(block, { emptySignatures, last: index === last }) : "";
    if (json !== "") blocks += (blocks === "" ? "" : ",") + json;
  }
  // All it did was to think: said as text it can stay.
  return last >= 0 ? blocks : thoughtsAsText(content);
}

function assistantBlock(block: AssistantContent, place: { emptySignatures: boolean; last: boolean }): string {
  if (block.type === "text") {
    if (block.text.trim() === "") return "";
    return textBlock(place.last ? block.text.trimEnd() : block.text);
  }
  if (block.type === "toolCall") {
    const { id, name, arguments: input } = block;
    return `{"type":"tool_use","id":${encodeJson(id)},"name":${encodeJson(name)},"input":${encodeJson(input)}}`;
  }
  const { thinking, thinkingSignature: signature = "", redacted } = block;
  if (redacted) return signature === "" ? "" : encodeJson({ type: "redacted_thinking", data: signature });
  // Without its signature thinking cannot go back; some compatible servers sign nothing and take it so.
  return signature !== "" || place.emptySignatures ? encodeJson({ type: "thinking", thinking, signature }) : "";
}

function thoughtsAsText(content: readonly AssistantContent[]): string {
  const thoughts = content.flatMap((block) => (block.type === "thinking" ? [block.thinking.trim()] : []));
  return thoughts
    .filter((thought) => thought !== "")
    .map(textBlock)
    .join(",");
}

function imageBytes({ content }: Message): number {
  if (typeof content === "string") return 0;
  let bytes = 0;
  for (const block of content)
    if (block.type === "image" && IMAGE_TYPES.includes(block.mimeType)) bytes += block.data.length;
  return bytes;
}
