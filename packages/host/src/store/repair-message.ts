import type { AgentMessage } from "@tau/agent";
import { type Cost, nestedTooDeep, type Usage } from "@tau/llm";
import { isJsonObject, type JsonObject } from "./parse-line.ts";

/** What was left out while entries were repaired. */
export interface RepairTally {
  /** Content blocks that lack what their type needs, or are of a type that their message cannot hold. */
  blocks: number;
}

/**
 * The message itself when it is well formed, else a repaired copy: damaged blocks are left out, calls get object
 * arguments, and figures that are none become 0 (R103). Messages of unknown roles are kept as they are.
 */
export function repairMessage(message: AgentMessage, tally: RepairTally): AgentMessage {
  const repair = Object.hasOwn(REPAIRERS, message.role) ? REPAIRERS[message.role] : undefined;
  return repair ? (repair(message as unknown as JsonObject, tally) as unknown as AgentMessage) : message;
}

/** Content of a user's or an extension's message, without its damaged blocks. */
export function repairContent(content: unknown, tally: RepairTally): string | JsonObject[] {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? blocks(content, { sound: isShown, tally }) : "";
}

/** Usage with all its figures. */
export function repairUsage(usage: unknown): Usage {
  if (isUsage(usage)) return usage;
  const given = isJsonObject(usage) ? usage : {};
  const cost = isJsonObject(given.cost) ? given.cost : {};
  return { ...ZERO_USAGE, ...figuresIn(given), cost: { ...ZERO_COST, ...figuresIn(cost) } };
}

type Repairer = (message: JsonObject, tally: RepairTally) => JsonObject;
type BlockCheck = (block: unknown) => block is JsonObject;

const isText = (value: unknown): value is string => typeof value === "string";

// Written out, without tables and copies: each message of a long session passes here before it can be gone on with.
const isShown: BlockCheck = (block): block is JsonObject => {
  if (!isJsonObject(block)) return false;
  if (block.type === "text") return typeof block.text === "string";
  return block.type === "image" && typeof block.data === "string" && typeof block.mimeType === "string";
};
const isSpoken: BlockCheck = (block): block is JsonObject => {
  if (!isJsonObject(block)) return false;
  if (block.type === "text") return typeof block.text === "string";
  if (block.type === "thinking") return typeof block.thinking === "string";
  return block.type === "toolCall" && typeof block.id === "string" && typeof block.name === "string";
};
const isWritten: BlockCheck = (block): block is JsonObject =>
  isJsonObject(block) && block.type === "text" && typeof block.text === "string";

const REPAIRERS: Record<string, Repairer> = {
  user(message, tally) {
    const content = repairContent(message.content, tally);
    return content === message.content && isTimed(message) ? message : repaired(message, { content });
  },
  system: repairSystem,
  toolResult(message, tally) {
    const { toolCallId, toolName } = message;
    const content = blocks(message.content, { sound: isShown, tally });
    const sound = content === message.content && isText(toolCallId) && isText(toolName) && isTimed(message);
    return sound ? message : repaired(message, { content, toolCallId: text(toolCallId), toolName: text(toolName) });
  },
  assistant: repairAssistant,
  custom: repairCustom,
  // Version 2 had another name for the messages of extensions.
  hookMessage: (message, tally) => repairCustom({ ...message, role: "custom" }, tally),
  bashExecution: (message) => repaired(message, { command: text(message.command), output: text(message.output) }),
  compactionSummary: (message) => repaired(message, { summary: text(message.summary) }),
  branchSummary: (message) => repaired(message, { summary: text(message.summary) }),
};

function repairCustom(message: JsonObject, tally: RepairTally): JsonObject {
  return repaired(message, { content: repairContent(message.content, tally), customType: text(message.customType) });
}

function repairAssistant(message: JsonObject, tally: RepairTally): JsonObject {
  const { api, provider, model, usage, stopReason } = message;
  const content = blocks(message.content, { sound: isSpoken, tally });
  const called = content.every(hasObjectArguments);
  const sourced = isText(api) && isText(provider) && isText(model) && isText(stopReason);
  if (called && sourced && content === message.content && isUsage(usage) && isTimed(message)) return message;
  return repaired(message, {
    content: called ? content : content.map(withObjectArguments),
    usage: repairUsage(usage),
    api: text(api),
    provider: text(provider),
    model: text(model),
    stopReason: isText(stopReason) ? stopReason : "stop",
  });
}

function repairSystem(message: JsonObject, tally: RepairTally): JsonObject {
  const { sections, toolsAdded, toolsRemoved } = message;
  const content = isText(message.content) ? message.content : blocks(message.content, { sound: isWritten, tally });
  const { sections: _sections, toolsAdded: _added, toolsRemoved: _removed, ...bare } = message;
  const sound =
    (sections === undefined || isSections(sections)) &&
    (toolsAdded === undefined || isListOf(toolsAdded, isTool)) &&
    (toolsRemoved === undefined || isListOf(toolsRemoved, isNamed));
  if (sound) return content === message.content && isTimed(message) ? message : repaired(message, { content });
  const base = {
    ...bare,
    ...(isSections(sections) && { sections }),
    ...(Array.isArray(toolsAdded) && { toolsAdded: toolsAdded.filter(isTool) }),
    ...(Array.isArray(toolsRemoved) && { toolsRemoved: toolsRemoved.filter(isNamed) }),
  };
  return repaired(base, { content });
}

/** A copy of the message with these fields and a time. */
function repaired(message: JsonObject, fields: JsonObject): JsonObject {
  return { ...message, ...fields, timestamp: isTimed(message) ? message.timestamp : 0 };
}

function isTimed(message: JsonObject): boolean {
  return typeof message.timestamp === "number";
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function blocks(content: unknown, { sound, tally }: { sound: BlockCheck; tally: RepairTally }): JsonObject[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  if (!Array.isArray(content)) return [];
  if (content.every(sound)) return content;
  const kept = content.filter(sound);
  tally.blocks += content.length - kept.length;
  return kept;
}

/** Arguments that are nested too deep can neither be counted nor sent (R307). */
function hasObjectArguments(block: JsonObject): boolean {
  return block.type !== "toolCall" || (isJsonObject(block.arguments) && !nestedTooDeep(block.arguments));
}

function withObjectArguments(block: JsonObject): JsonObject {
  return hasObjectArguments(block) ? block : { ...block, arguments: {} };
}

function isSections(value: unknown): boolean {
  return isJsonObject(value) && Object.values(value).every((section) => section === null || isText(section));
}

function isListOf(value: unknown, check: (member: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(check);
}

function isNamed(value: unknown): boolean {
  return isJsonObject(value) && isText(value.name);
}

function isTool(value: unknown): boolean {
  return isJsonObject(value) && isText(value.name) && isText(value.description) && isJsonObject(value.parameters);
}

const ZERO_COST: Cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const ZERO_USAGE: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: ZERO_COST };

function isUsage(value: unknown): value is Usage {
  if (!isJsonObject(value) || typeof value.totalTokens !== "number" || !hasParts(value)) return false;
  return isJsonObject(value.cost) && typeof value.cost.total === "number" && hasParts(value.cost);
}

function hasParts({ input, output, cacheRead, cacheWrite }: JsonObject): boolean {
  if (typeof input !== "number" || typeof output !== "number") return false;
  return typeof cacheRead === "number" && typeof cacheWrite === "number";
}

function figuresIn(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, figure]) => typeof figure === "number"));
}
