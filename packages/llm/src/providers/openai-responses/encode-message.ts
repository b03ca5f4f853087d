import type {
  AssistantContent,
  AssistantMessage,
  ImageContent,
  Message,
  TextContent,
  ToolResultMessage,
  UserMessage,
} from "../../protocol/message.ts";
import { encodeJson } from "../../stream/json.ts";
import { systemChangeText } from "../history/request-head.ts";
import type { ServerTraits } from "./compat.ts";
import { readMessageSignature, reasoningItem } from "./signatures.ts";

type Json = Record<string, unknown>;
type Visible = TextContent | ImageContent;

/** What the form of a message depends on, besides itself. */
export interface MessageStyle {
  traits: Pick<ServerTraits, "systemRole" | "imagesInResults" | "plainReasoning">;
  /** Reasoning items go back. */
  reasoning: boolean;
  /** Messages go back under the ids that they came with. */
  itemIds: boolean;
}

// The API refuses a message without a text.
const EMPTY_USER = "(empty message)";
const NO_IMAGES: readonly Json[] = [];
// The API refuses other ids.
const MESSAGE_ID = /^msg_?[A-Za-z0-9_-]{1,60}$/;

/** The images of a message in the form of this API. */
export function imageParts(content: readonly Visible[]): readonly Json[] {
  const images = content.filter((block) => block.type === "image");
  return images.length === 0 ? NO_IMAGES : images.map(imagePart);
}

/** The message as items of the input; none when it has nothing for the model. */
export function wireItems(message: Message, style: MessageStyle): Json[] {
  switch (message.role) {
    case "user":
      return [{ role: "user", content: userContent(message) }];
    case "assistant":
      return assistantItems(message, style);
    case "toolResult":
      return [resultItem(message, style)];
    case "system": {
      const content = systemChangeText(message);
      return content === "" ? [] : [{ role: style.traits.systemRole, content }];
    }
  }
}

function userContent({ content }: UserMessage): unknown {
  if (typeof content === "string") return content.trim() === "" ? EMPTY_USER : content;
  if (content.some((block) => block.type === "image")) return visibleParts(content);
  const text = textOf(content);
  return text.trim() === "" ? EMPTY_USER : text;
}

function resultItem({ toolCallId, content }: ToolResultMessage, { traits }: MessageStyle): Json {
  const images = content.some((block) => block.type === "image");
  const output =
    images && traits.imagesInResults
      ? visibleParts(content)
      : textOf(content) || (images ? "(the image follows)" : "(no output)");
  return { type: "function_call_output", call_id: toolCallId, output };
}

function visibleParts(content: readonly Visible[]): Json[] {
  return content.flatMap((block): Json[] => {
    if (block.type === "image") return [imagePart(block)];
    return block.text === "" ? [] : [{ type: "input_text", text: block.text }];
  });
}

function imagePart({ data, mimeType }: ImageContent): Json {
  return { type: "input_image", detail: "auto", image_url: `data:${mimeType};base64,${data}` };
}

function assistantItems({ content }: AssistantMessage, style: MessageStyle): Json[] {
  const last = content.findLastIndex((block) => block.type !== "thinking");
  // All it did was to think: the API refuses reasoning that nothing follows, said as text it can stay.
  if (last < 0) return thoughtsAsText(content);
  const items = content.map((block, index) => (index < last ? reasoningOf(block, style) : undefined));
  // Ids are for the items that came together: without its reasoning a message goes back as anyone's.
  const whole =
    style.itemIds && content.every((block, index) => block.type !== "thinking" || items[index] !== undefined);
  return content.flatMap((block, index): Json[] => {
    const reasoning = items[index];
    if (reasoning) return [reasoning];
    if (block.type === "text") return [messageItem(block, whole)];
    return block.type === "toolCall" ? [callItem(block)] : [];
  });
}

function reasoningOf(block: AssistantContent, { traits, reasoning }: MessageStyle): Json | undefined {
  if (!reasoning || block.type !== "thinking") return undefined;
  const item = reasoningItem(block.thinkingSignature, block.thinking);
  return item && (traits.plainReasoning || item.encrypted_content) ? item : undefined;
}

function messageItem({ text, textSignature }: TextContent, whole: boolean): Json {
  const { id, phase } = readMessageSignature(textSignature);
  const said = phase === undefined ? {} : { phase };
  if (!whole || id === undefined || !MESSAGE_ID.test(id)) return { role: "assistant", content: text, ...said };
  const content = [{ type: "output_text", text, annotations: [] }];
  return { type: "message", id, role: "assistant", status: "completed", content, ...said };
}

/** The item's own id is left out: it pairs nothing, and servers refuse those of others. */
function callItem({ id, name, arguments: args }: Extract<AssistantContent, { type: "toolCall" }>): Json {
  return { type: "function_call", call_id: id, name, arguments: encodeJson(args) };
}

function thoughtsAsText(content: readonly AssistantContent[]): Json[] {
  const thoughts = content.flatMap((block) => (block.type === "thinking" ? [block.thinking.trim()] : []));
  const said = thoughts.filter((thought) => thought !== "").join("\n\n");
  return said === "" ? [] : [{ role: "assistant", content: said }];
}

function textOf(content: readonly Visible[]): string {
  // Nearly every message: no list on the way.
  const only = content.length === 1 ? content[0] : undefined;
  if (only?.type === "text") return only.text;
  return content.flatMap((block) => (block.type === "text" && block.text !== "" ? [block.text] : [])).join("\n");
}
