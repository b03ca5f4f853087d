import type {
  AssistantContent,
  AssistantMessage,
  ImageContent,
  Message,
  TextContent,
  ToolCall,
  ToolResultMessage,
  UserMessage,
} from "../../protocol/message.ts";
import type { Model } from "../../protocol/model.ts";
import { type ToolIdRule, wireToolId, wireToolName } from "./wire-names.ts";

/** Who the history is sent to. */
export interface ReplayTarget {
  model: Pick<Model, "api" | "provider" | "id" | "input">;
  toolIds: ToolIdRule;
}

/** What the messages of a history became; undefined where nothing is left of one. */
interface Replayed {
  seen: readonly Message[];
  sent: readonly (Message | undefined)[];
}

// By target and by the first message of the history, so that a turn costs its new messages only: messages do not change
// once they are in a transcript. The two targets that were used last are enough: a switch of the model and back, or a
// session beside its summaries. Lists, since a WeakMap of all messages of a long history slows the garbage collector.
const remembered = new Map<string, WeakMap<Message, Replayed>>();
const TARGETS = 2;
const NOTHING: Replayed = { seen: [], sent: [] };

/**
 * The messages of a history as this model may see them; one that has nothing left is left out. Tool-call ids and
 * tool names are those of the wire. The same message gives the same object as long as the target stays, and itself
 * where nothing has to change, so that encoders can cache by it.
 *
 * - thinking and signatures go back to the very model that gave them only (R028, R029); foreign thinking is dropped,
 *   or becomes text where it is all that the message has
 * - a failed or aborted answer keeps what it had; its unsigned thinking is dropped, since it may be cut
 * - blank text blocks are dropped, images become a note where the model takes none
 */
export function replayMessages(messages: readonly Message[], target: ReplayTarget): Message[] {
  const [first] = messages;
  if (!first) return [];
  const known = knownFor(target);
  const { seen, sent: before } = known.get(first) ?? NOTHING;
  const changed = seen.findIndex((message, index) => message !== messages[index]);
  const same = changed < 0 ? seen.length : changed;
  const sent = before.slice(0, same);
  for (const message of same === 0 ? messages : messages.slice(same)) sent.push(replayMessage(message, target));
  known.set(first, { seen: messages.slice(), sent });
  return sent.filter((message) => message !== undefined);
}

function knownFor({ model, toolIds }: ReplayTarget): WeakMap<Message, Replayed> {
  const key = JSON.stringify([model.api, model.provider, model.id, model.input.includes("image"), toolIds]);
  const known = remembered.get(key) ?? new WeakMap<Message, Replayed>();
  remembered.delete(key);
  remembered.set(key, known);
  for (const oldest of remembered.keys()) if (remembered.size > TARGETS) remembered.delete(oldest);
  return known;
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
  const content = visibleContent(message.content, target);
  return content === message.content ? message : { ...message, content };
}

function replayResult(message: ToolResultMessage, target: ReplayTarget): ToolResultMessage {
  const toolCallId = wireToolId(message.toolCallId, target.toolIds);
  const toolName = wireToolName(message.toolName);
  const content = visibleContent(message.content, target);
  const same = toolCallId === message.toolCallId && toolName === message.toolName && content === message.content;
  return same ? message : { ...message, toolCallId, toolName, content };
}

// Without the copy that trim() makes of nearly every text.
const isBlank = (text: string) => !/\S/.test(text);

type Visible = TextContent | ImageContent;

function visibleContent(content: Visible[], { model }: ReplayTarget): Visible[] {
  const images = model.input.includes("image");
  const visible = (block: Visible) => (block.type === "image" ? images : !isBlank(block.text));
  if (content.every(visible)) return content;
  return content.flatMap((block): Visible[] => {
    if (visible(block)) return [block];
    if (block.type === "text") return [];
    return [{ type: "text", text: `[An image (${block.mimeType}) was here. This model takes no images.]` }];
  });
}

function replayAssistant(message: AssistantMessage, target: ReplayTarget): AssistantMessage | undefined {
  const { model } = target;
  const own = message.provider === model.provider && message.api === model.api && message.model === model.id;
  if (own && message.content.every((block) => isSent(block, message) && onWire(block, target) === block)) {
    return message.content.length === 0 ? undefined : message;
  }
  const kept = own ? message.content.filter((block) => isSent(block, message)) : foreignContent(message);
  return kept.length === 0 ? undefined : { ...message, content: kept.map((block) => onWire(block, target)) };
}

/** Whether a block goes back to the model that wrote it. */
function isSent(block: AssistantContent, { stopReason }: AssistantMessage): boolean {
  if (block.type === "text") return !isBlank(block.text);
  if (block.type !== "thinking" || block.thinkingSignature) return true;
  return stopReason !== "error" && stopReason !== "aborted" && !isBlank(block.thinking);
}

function foreignContent(message: AssistantMessage): AssistantContent[] {
  const said = message.content.flatMap((block): AssistantContent[] => {
    if (block.type === "toolCall") return [withoutSignature(block)];
    return block.type === "text" && !isBlank(block.text) ? [withoutTextSignature(block)] : [];
  });
  if (said.length > 0) return said;
  return message.content.flatMap((block): AssistantContent[] =>
    block.type === "thinking" && !block.redacted && !isBlank(block.thinking)
      ? [{ type: "text", text: block.thinking }]
      : [],
  );
}

function withoutSignature(call: ToolCall): ToolCall {
  if (call.thoughtSignature === undefined) return call;
  const { thoughtSignature: _foreign, ...rest } = call;
  return rest;
}

function withoutTextSignature(block: TextContent): TextContent {
  return block.textSignature === undefined ? block : { type: "text", text: block.text };
}

function onWire(block: AssistantContent, { toolIds }: ReplayTarget): AssistantContent {
  if (block.type !== "toolCall") return block;
  const id = wireToolId(block.id, toolIds);
  const name = wireToolName(block.name);
  return id === block.id && name === block.name ? block : { ...block, id, name };
}
