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
import { nestedTooDeep } from "../../stream/arguments.ts";
import type { Adjustments, RefusedThinking } from "../adjust/adjustments.ts";
import { type ToolIdRule, wireToolId, wireToolName } from "./wire-names.ts";

/** Who the history is sent to. */
export interface ReplayTarget {
  model: Pick<Model, "api" | "provider" | "id" | "input">;
  toolIds: ToolIdRule;
  /** Answers whose thinking and signatures the server did not take back. */
  refusedThinking?: RefusedThinking | undefined;
  /** Ids that the model gave itself are mapped like others. */
  mapOwnIds?: boolean;
}

/** The model with the rule of its API for ids, and what its server refused. */
export function replayTarget(model: Model, toolIds: ToolIdRule, adjustments: Adjustments): ReplayTarget {
  const { refusedThinking, styles } = adjustments;
  return { model, toolIds, refusedThinking, mapOwnIds: styles.has("mapped-tool-ids") };
}

/** What the messages of a history became; undefined where nothing is left of one. */
interface Replayed {
  seen: readonly Message[];
  sent: readonly (Message | undefined)[];
  /** Ids that the target gave to calls itself, as far as it would not take them from another model. */
  ownIds: ReadonlySet<string>;
}

// By target and by the first message of the history, so that a turn costs its new messages only: messages do not change
// once they are in a transcript. The two targets that were used last are enough: a switch of the model and back, or a
// session beside its summaries. Lists, since a WeakMap of all messages of a long history slows the garbage collector.
const remembered = new Map<string, WeakMap<Message, Replayed>>();
const TARGETS = 2;
const NO_IDS: ReadonlySet<string> = new Set();
const NOTHING: Replayed = { seen: [], sent: [], ownIds: NO_IDS };

/**
 * The messages of a history as this model may see them; one that has nothing left is left out. Tool-call ids and
 * tool names are those of the wire. The same message gives the same object as long as the target stays, and itself
 * where nothing has to change, so that encoders can cache by it.
 *
 * - the id of a call goes back to the very model that gave it as it is (R204), to another one in a form that it takes
 * - thinking and signatures go back to the very model that gave them only (R028, R029); foreign thinking is dropped,
 *   or becomes text where it is all that the message has
 * - a failed or aborted answer keeps what it had; its unsigned thinking is dropped, since it may be cut
 * - white-space text blocks are dropped, images become a note where the model takes none
 */
export function replayMessages(messages: readonly Message[], target: ReplayTarget): Message[] {
  const [first] = messages;
  if (!first) return [];
  const known = knownFor(target);
  const before = known.get(first) ?? NOTHING;
  const changed = before.seen.findIndex((message, index) => message !== messages[index]);
  const same = changed < 0 ? before.seen.length : changed;
  const added = same === 0 ? messages : messages.slice(same);
  const ownIds = changed < 0 ? withOwnIds(before.ownIds, added, target) : withOwnIds(NO_IDS, messages, target);
  const sent = before.sent.slice(0, same);
  for (const message of added) sent.push(replayMessage(message, { ...target, ownIds }));
  known.set(first, { seen: messages.slice(), sent, ownIds });
  return sent.filter((message) => message !== undefined);
}

/** The target, and which ids of calls it knows as its own. */
interface Target extends ReplayTarget {
  ownIds: ReadonlySet<string>;
}

function knownFor({ model, toolIds, refusedThinking, mapOwnIds = false }: ReplayTarget): WeakMap<Message, Replayed> {
  const images = model.input.includes("image");
  const refused = refusedThinking?.version ?? 0;
  const key = JSON.stringify([model.api, model.provider, model.id, images, toolIds, refused, mapOwnIds]);
  const known = remembered.get(key) ?? new WeakMap<Message, Replayed>();
  remembered.delete(key);
  remembered.set(key, known);
  for (const oldest of remembered.keys()) if (remembered.size > TARGETS) remembered.delete(oldest);
  return known;
}

/** Ids that fit anyway need not be known; ids of a fixed length are a matter of the template, whoever gave them. */
function withOwnIds(
  before: ReadonlySet<string>,
  messages: readonly Message[],
  { model, toolIds, mapOwnIds }: ReplayTarget,
): ReadonlySet<string> {
  if (toolIds.fixedLength || mapOwnIds) return before;
  const ids: string[] = [];
  for (const message of messages) {
    if (message.role !== "assistant" || !isOwn(message, model)) continue;
    for (const block of message.content) {
      if (block.type === "toolCall" && wireToolId(block.id, toolIds) !== block.id) ids.push(block.id);
    }
  }
  return ids.length === 0 ? before : new Set([...before, ...ids]);
}

const isOwn = (message: AssistantMessage, model: ReplayTarget["model"]) =>
  message.provider === model.provider && message.api === model.api && message.model === model.id;

function replayMessage(message: Message, target: Target): Message | undefined {
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

function replayResult(message: ToolResultMessage, target: Target): ToolResultMessage {
  const toolCallId = callId(message.toolCallId, target);
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

function replayAssistant(message: AssistantMessage, target: Target): AssistantMessage | undefined {
  const own = isOwn(message, target.model) && !target.refusedThinking?.has(message);
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

function onWire(block: AssistantContent, target: Target): AssistantContent {
  if (block.type !== "toolCall") return block;
  const id = callId(block.id, target);
  const name = wireToolName(block.name);
  const deep = nestedTooDeep(block.arguments);
  if (id === block.id && name === block.name && !deep) return block;
  // As in a fresh reply, whose arguments are empty then.
  return { ...block, id, name, arguments: deep ? {} : block.arguments };
}

function callId(id: string, { ownIds, toolIds, model }: Target): string {
  if (!ownIds.has(id)) return wireToolId(id, toolIds);
  // pi keeps the id of the item behind that of the call.
  const call = model.api === "openai-responses" ? id.split("|", 1)[0] : id;
  return call || id;
}
