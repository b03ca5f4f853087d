import type { AgentMessage } from "@tau/agent";
import type { Usage } from "@tau/llm";
import type { EditedContent, Entry, SessionHeader } from "./entries.ts";
import { isJsonObject, type JsonObject } from "./parse-line.ts";

/** The file's own header: version 1 and 2 are read as 3. Undefined when it is no header. */
export function toHeader(value: JsonObject): SessionHeader | undefined {
  const { id, timestamp, cwd, parentSession } = value;
  if (value.type !== "session" || typeof id !== "string" || id === "") return undefined;
  return {
    type: "session",
    version: 3,
    id,
    timestamp: typeof timestamp === "string" ? timestamp : new Date(0).toISOString(),
    cwd: typeof cwd === "string" ? cwd : "",
    ...(typeof parentSession === "string" && { parentSession }),
  };
}

// What a reader of these types relies on; other types are kept as they are.
const REQUIRED: Record<string, (value: JsonObject) => boolean> = {
  message: ({ message }) => isJsonObject(message) && typeof message.role === "string",
  compaction: ({ summary }) => typeof summary === "string",
  context_edit: ({ targetId, replacement }) =>
    typeof targetId === "string" &&
    (replacement === null || isEditedContent(isJsonObject(replacement) ? replacement.content : replacement)),
  branch_summary: ({ summary }) => typeof summary === "string",
  custom: ({ customType }) => typeof customType === "string",
  custom_message: ({ customType, content }) =>
    typeof customType === "string" && (typeof content === "string" || Array.isArray(content)),
  label: ({ targetId, label }) => typeof targetId === "string" && (label == null || typeof label === "string"),
};

/**
 * One parsed object as an entry, or undefined when it cannot be one. `id`, `parentId` and `timestamp` may still be
 * missing (version 1): the tree sets them. Shapes that older or broken writers left are mended here, so that nobody
 * behind this border meets them (R103).
 */
export function toEntry(value: JsonObject): Entry | undefined {
  const { type } = value;
  if (typeof type !== "string" || type === "session") return undefined;
  const holds = Object.hasOwn(REQUIRED, type) ? REQUIRED[type] : undefined;
  if (holds?.(value) === false) return undefined;
  const entry = value as unknown as Entry;
  if (typeof entry.timestamp !== "string") entry.timestamp = new Date(0).toISOString();
  if (entry.type === "session_info" && typeof entry.name !== "string") entry.name = "";
  mendEntry(entry);
  return entry;
}

/** Brings an entry of tau or of a file into the shape that files have. */
export function mendEntry(entry: Entry): void {
  if (entry.type === "message") entry.message = mendMessage(entry.message);
  if (entry.type === "context_edit" && isEditedContent(entry.replacement)) {
    entry.replacement = { content: entry.replacement };
  }
}

function isEditedContent(value: unknown): value is EditedContent {
  return typeof value === "string" || Array.isArray(value);
}

const ZERO_USAGE: Usage = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

/** The message itself when it is well formed, else a mended copy. Calls get object arguments (R103). */
function mendMessage(message: AgentMessage): AgentMessage {
  const mend = Object.hasOwn(MENDERS, message.role) ? MENDERS[message.role] : undefined;
  return mend ? mend(message as unknown as JsonObject) : message;
}

const MENDERS: Record<string, (message: JsonObject) => AgentMessage> = {
  user: (message) => withContent(message, textOrBlocks(message.content)),
  system: (message) => withContent(message, textOrBlocks(message.content)),
  toolResult: (message) => withContent(message, blocks(message.content)),
  assistant: mendAssistant,
  // Version 2 had another name for the messages of extensions.
  hookMessage: (message) => withContent({ ...message, role: "custom" }, textOrBlocks(message.content)),
};

function mendAssistant(message: JsonObject): AgentMessage {
  const content = blocks(message.content);
  const sound = content.every(hasObjectArguments) ? content : content.map(withObjectArguments);
  const whole = isJsonObject(message.usage) && isJsonObject(message.usage.cost);
  if (whole) return withContent(message, sound);
  const usage = { ...ZERO_USAGE, ...(isJsonObject(message.usage) ? message.usage : {}) };
  return withContent({ ...message, usage: { ...usage, cost: ZERO_USAGE.cost } }, sound);
}

function withContent(message: JsonObject, content: unknown): AgentMessage {
  const same = message.content === content;
  return (same ? message : { ...message, content }) as unknown as AgentMessage;
}

function textOrBlocks(content: unknown): string | JsonObject[] {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? blocks(content) : "";
}

function blocks(content: unknown): JsonObject[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  if (!Array.isArray(content)) return [];
  return content.every(isJsonObject) ? content : content.filter(isJsonObject);
}

function hasObjectArguments(block: JsonObject): boolean {
  return block.type !== "toolCall" || isJsonObject(block.arguments);
}

function withObjectArguments(block: JsonObject): JsonObject {
  return hasObjectArguments(block) ? block : { ...block, arguments: {} };
}
