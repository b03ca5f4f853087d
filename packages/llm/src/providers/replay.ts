import type {
  AssistantContent,
  AssistantMessage,
  ImageContent,
  Message,
  TextContent,
  ToolResultMessage,
  UserMessage,
} from "../protocol/message.ts";
import type { Model } from "../protocol/model.ts";
import { type ToolIdRule, wireToolId, wireToolName } from "./wire-names.ts";

/** Who the history is sent to. */
export interface ReplayTarget {
  model: Pick<Model, "api" | "provider" | "id" | "input">;
  toolIds: ToolIdRule;
}

interface Remembered {
  key: string;
  message: Message | undefined;
}

// What a message became for the target it was sent to last, so that a turn costs its new messages only. Messages do
// not change once they are in a transcript.
const remembered = new WeakMap<Message, Remembered>();

/**
 * The messages of a history as this model may see them; one that has nothing left is left out. Tool-call ids and
 * tool names are those of the wire. The same message gives the same object as long as the target stays, so that
 * encoders can cache by it.
 *
 * - thinking and signatures go back to the very model that gave them only (R028, R029); foreign thinking is dropped,
 *   or becomes text where it is all that the message has
 * - a failed or aborted answer keeps what it had; its unsigned thinking is dropped, since it may be cut
 * - blank text blocks are dropped, images become a note where the model takes none
 */
export function replayMessages(messages: readonly Message[], target: ReplayTarget): Message[] {
  const key = targetKey(target);
  const replayed: Message[] = [];
  for (const message of messages) {
    const sent = recall(message, target, key);
    if (sent) replayed.push(sent);
  }
  return replayed;
}

function recall(message: Message, target: ReplayTarget, key: string): Message | undefined {
  const known = remembered.get(message);
  if (known?.key === key) return known.message;
  const sent = replayMessage(message, target);
  remembered.set(message, { key, message: sent });
  return sent;
}

function targetKey({ model, toolIds }: ReplayTarget): string {
  return JSON.stringify([model.api, model.provider, model.id, model.input.includes("image"), toolIds]);
}

function replayMessage(message: Message, target: ReplayTarget): Message | undefined {
  switch (message.role) {
    case "user":
      return replayUser(message, target);
    case "assistant":
      return replayAssistant(message, target);
    case "toolResult":
      return replayResult(message, target);
    case "system":
      return message;
  }
}

function replayUser(message: UserMessage, target: ReplayTarget): UserMessage {
  if (typeof message.content === "string") return message;
  return { ...message, content: visibleContent(message.content, target) };
}

function replayResult(message: ToolResultMessage, target: ReplayTarget): ToolResultMessage {
  const { details: _details, ...rest } = message;
  return {
    ...rest,
    toolCallId: wireToolId(message.toolCallId, target.toolIds),
    toolName: wireToolName(message.toolName),
    content: visibleContent(message.content, target),
  };
}

function visibleContent(
  content: readonly (TextContent | ImageContent)[],
  { model }: ReplayTarget,
): (TextContent | ImageContent)[] {
  const images = model.input.includes("image");
  return content.flatMap((block): (TextContent | ImageContent)[] => {
    if (block.type === "text") return block.text.trim() === "" ? [] : [block];
    if (images) return [block];
    return [{ type: "text", text: `[An image (${block.mimeType}) was here. This model takes no images.]` }];
  });
}

function replayAssistant(message: AssistantMessage, target: ReplayTarget): AssistantMessage | undefined {
  const { model } = target;
  const own = message.provider === model.provider && message.api === model.api && message.model === model.id;
  const content = own ? ownContent(message) : foreignContent(message);
  if (content.length === 0) return undefined;
  return { ...message, content: content.map((block) => onWire(block, target)) };
}

function ownContent(message: AssistantMessage): AssistantContent[] {
  const failed = message.stopReason === "error" || message.stopReason === "aborted";
  return message.content.filter((block) => {
    if (block.type === "text") return block.text.trim() !== "";
    if (block.type !== "thinking" || block.thinkingSignature) return true;
    return !failed && block.thinking.trim() !== "";
  });
}

function foreignContent(message: AssistantMessage): AssistantContent[] {
  const said = message.content.flatMap((block): AssistantContent[] => {
    if (block.type === "toolCall") return [withoutSignature(block)];
    return block.type === "text" && block.text.trim() !== "" ? [{ type: "text", text: block.text }] : [];
  });
  if (said.length > 0) return said;
  return message.content.flatMap((block): AssistantContent[] =>
    block.type === "thinking" && !block.redacted && block.thinking.trim() !== ""
      ? [{ type: "text", text: block.thinking }]
      : [],
  );
}

function withoutSignature<Block extends { thoughtSignature?: string }>(block: Block): Omit<Block, "thoughtSignature"> {
  const { thoughtSignature: _foreign, ...rest } = block;
  return rest;
}

function onWire(block: AssistantContent, { toolIds }: ReplayTarget): AssistantContent {
  if (block.type !== "toolCall") return block;
  return { ...block, id: wireToolId(block.id, toolIds), name: wireToolName(block.name) };
}
