import type { Message } from "../../protocol/message.ts";
import type { Model } from "../../protocol/model.ts";
import type { Adjustments } from "../adjust/adjustments.ts";

// Below this an answer is not worth asking for; the request goes out with it, and the server's own refusal tells the
// supervisor to compact (E4).
const FLOOR = 1024;
const BYTES_PER_TOKEN = 4;
// No text has fewer bytes a token for long, so this bounds a count that is too high, e.g. of before a compaction.
const FEWEST_BYTES_PER_TOKEN = 2;
// What the server adds to the messages (templates, its own system text) and errors of the estimate.
const MARGIN = 512;

/** What is known of the size of a request. */
export interface RequestSize {
  messages: readonly Message[];
  /** UTF-8 bytes of head and messages, images not counted. */
  bytes: number;
  /** Bytes of each message, for the part that no usage tells of. */
  bytesOf: (message: Message) => number;
}

/** The context window in tokens: the smaller one of the model's and of what the server says; 0 when neither is known. */
export function knownWindow(model: Model, { window }: Pick<Adjustments, "window">): number {
  const own = model.contextWindow > 0 ? model.contextWindow : Number.POSITIVE_INFINITY;
  const least = Math.min(own, window);
  return Number.isFinite(least) ? least : 0;
}

/**
 * The output limit in tokens to ask for: what the caller wants, at most what the model can, and at most what the
 * prompt leaves of the window (R043). The prompt is counted by the usage of the last answer and an estimate of what
 * came after it, or by its bytes where there is none.
 */
export function outputLimit(model: Model, wanted: number | undefined, size: RequestSize): number {
  const most = Math.min(wanted ?? model.maxTokens, model.maxTokens);
  if (model.contextWindow <= 0) return most;
  const left = model.contextWindow - promptTokens(size) - MARGIN;
  return Math.max(1, Math.min(most, Math.max(left, FLOOR)));
}

function promptTokens({ messages, bytes, bytesOf }: RequestSize): number {
  const last = messages.findLastIndex((message) => message.role === "assistant" && message.usage.totalTokens > 0);
  const answer = messages[last];
  if (answer?.role !== "assistant") return Math.ceil(bytes / BYTES_PER_TOKEN);
  const after = messages.slice(last + 1).reduce((sum, message) => sum + bytesOf(message), 0);
  const counted = answer.usage.totalTokens + Math.ceil(after / BYTES_PER_TOKEN);
  return Math.min(counted, Math.ceil(bytes / FEWEST_BYTES_PER_TOKEN));
}
