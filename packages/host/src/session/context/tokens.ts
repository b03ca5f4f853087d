import { isDeepStrictEqual } from "node:util";
import type { AgentMessage } from "@tau/agent";
import type { ImageContent, SystemMessage, TextContent, Tool, Usage } from "@tau/llm";

/** Tokens of an image, whatever its size: the providers' own rules differ, and none goes far above this after resizing. */
const IMAGE_TOKENS = 1500;
/** Role, separators and ids of a message. */
const MESSAGE_TOKENS = 4;

/**
 * Tokens of a text, roughly: four ASCII characters a token, and more for scripts whose letters take several bytes
 * (about 0.55 a letter of Cyrillic, 0.85 one of Chinese).
 */
export function estimateText(text: string): number {
  const extraBytes = Buffer.byteLength(text) - text.length;
  return text.length / 4 + extraBytes * 0.3;
}

/** Tokens of one message, roughly. Whole numbers. */
export function estimateMessage(message: AgentMessage): number {
  return Math.ceil(MESSAGE_TOKENS + rawEstimate(message));
}

function rawEstimate(message: AgentMessage): number {
  switch (message.role) {
    case "user":
    case "toolResult":
    case "custom":
      return estimateContent(message.content);
    case "assistant":
      return message.content.reduce((sum, block) => sum + estimateBlock(block), 0);
    case "system":
      return estimateSystem(message);
    case "bashExecution":
      return message.excludeFromContext ? 0 : estimateText(message.command) + estimateText(message.output);
    case "compactionSummary":
    case "branchSummary":
      return estimateText(message.summary);
    default:
      // A role of a program that knows more, or a damaged one: it is not sent either.
      return 0;
  }
}

function estimateContent(content: string | (TextContent | ImageContent)[]): number {
  if (typeof content === "string") return estimateText(content);
  return content.reduce((sum, block) => sum + (block.type === "image" ? IMAGE_TOKENS : estimateText(block.text)), 0);
}

function estimateBlock(block: Extract<AgentMessage, { role: "assistant" }>["content"][number]): number {
  if (block.type === "text") return estimateText(block.text);
  if (block.type === "thinking") return estimateText(block.thinking);
  return estimateText(block.name) + estimateText(JSON.stringify(block.arguments));
}

function estimateSystem(message: SystemMessage): number {
  const sections = Object.values(message.sections ?? {}).reduce((sum, text) => sum + estimateText(text ?? ""), 0);
  return estimateContent(message.content) + sections + estimateTools(message.toolsAdded ?? []);
}

/** Tokens of tool declarations, roughly. */
function estimateTools(tools: readonly Tool[]): number {
  return tools.reduce((sum, { name, description, parameters }) => {
    return sum + estimateText(name) + estimateText(description) + estimateText(JSON.stringify(parameters));
  }, 0);
}

/** Counts a message for a model. */
export type CountTokens = (message: AgentMessage, modelId: string) => number;

// As many as a prompt has messages: more would only be held in memory.
const RECENT = 8;

/**
 * Remembers counts by message and model outside the messages (law O2), for as long as the message lives. The loop keeps
 * copies of the messages it is given: the newest ones are known by what they say, too.
 * @param count asked once for each pair
 */
export function cachedCounter(count: CountTokens = estimateMessage): CountTokens {
  const known = new WeakMap<AgentMessage, Map<string, number>>();
  const recent: AgentMessage[] = [];
  return (message, modelId) => {
    const counts = known.get(message) ?? countsOfTwin(message) ?? new Map<string, number>();
    const tokens = counts.get(modelId) ?? count(message, modelId);
    known.set(message, counts.set(modelId, tokens));
    return tokens;
  };

  function countsOfTwin(message: AgentMessage): Map<string, number> | undefined {
    if (message.role !== "user" && message.role !== "custom") return undefined;
    const twin = recent.find((other) => isDeepStrictEqual(other, message));
    if (twin) return known.get(twin);
    if (recent.push(message) > RECENT) recent.shift();
    return undefined;
  }
}

/** What the context holds, kept up to date message by message (law O1). */
export interface ContextMeter {
  /** Estimate of everything: prompt, tools, all messages. */
  readonly estimated: number;
  /** The provider's count at its newest reply; undefined before one and after the context was rebuilt. */
  readonly reported?: number;
  /** Estimate of what came after that reply. */
  readonly tail: number;
}

/** Tokens of a reply's whole context, as the provider counted them; undefined when it did not count (R033). */
export function reportedTokens(usage: Usage | undefined): number | undefined {
  if (!usage) return undefined;
  const total = usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
  return Number.isFinite(total) && usage.input + usage.cacheRead + usage.cacheWrite > 0 ? total : undefined;
}

/** The meter after one more message. */
export function addToMeter(meter: ContextMeter, message: AgentMessage, tokens: number): ContextMeter {
  const estimated = meter.estimated + tokens;
  const failed = message.role === "assistant" && (message.stopReason === "error" || message.stopReason === "aborted");
  const reported = message.role === "assistant" && !failed ? reportedTokens(message.usage) : undefined;
  if (reported !== undefined) return { estimated, reported, tail: 0 };
  return { ...meter, estimated, tail: meter.tail + tokens };
}

/** Tokens in the context now: the provider's count plus an estimate of the tail, or the estimate alone. */
export function contextTokens(meter: ContextMeter): number {
  return meter.reported === undefined ? meter.estimated : meter.reported + meter.tail;
}
