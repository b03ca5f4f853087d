import type { AssistantMessage, Message } from "../../protocol/message.ts";
import type { Model } from "../../protocol/model.ts";

/** Rough token counts of a request: of its head, and of each message. */
export interface RequestSize {
  head: number;
  sizes: readonly number[];
  messages: readonly Message[];
}

// Larger than any answer of an agent; rate limits count what is asked for, not what is used.
const DEFAULT_LIMIT = 32_000;
const MARGIN_TOKENS = 128;
// Below this an answer is of no use; a server that cannot give it says so, and the host makes room (R043).
const FLOOR_TOKENS = 1024;
// No text has so many tokens: a reported count above it belongs to a context from before a compaction.
const IMPLAUSIBLE = 1.75;
const SLACK_TOKENS = 2000;

/**
 * The output limit in tokens: what is asked for, at most what the model can give and what its window leaves beside the
 * prompt (R043), at least a floor. Undefined when neither model nor caller say anything.
 */
export function outputLimit(model: Model, wanted: number | undefined, size: RequestSize): number | undefined {
  const most = model.maxTokens > 0 ? model.maxTokens : Number.POSITIVE_INFINITY;
  const asked = Math.min(wanted ?? DEFAULT_LIMIT, most);
  if (wanted === undefined && most === Number.POSITIVE_INFINITY) return undefined;
  if (!(model.contextWindow > 0)) return asked;
  const left = model.contextWindow - promptTokens(size) - MARGIN_TOKENS;
  return Math.max(1, Math.min(asked, Math.max(left, FLOOR_TOKENS)));
}

/** Tokens of the prompt: what the provider counted up to its last answer, and an estimate of what came after. */
function promptTokens({ head, sizes, messages }: RequestSize): number {
  const last = messages.findLastIndex((message) => message.role === "assistant" && message.usage.totalTokens > 0);
  const total = (from: number, to: number) => sizes.slice(from, to).reduce((sum, tokens) => sum + tokens, 0);
  const answer = messages[last];
  const upTo = head + total(0, last + 1);
  if (answer && isAnswer(answer)) {
    const counted = answer.usage.totalTokens;
    if (counted <= upTo * IMPLAUSIBLE + SLACK_TOKENS)
      return Math.max(counted, upTo / 4) + total(last + 1, sizes.length);
  }
  return Math.ceil(upTo + total(last + 1, sizes.length));
}

function isAnswer(message: Message): message is AssistantMessage {
  return message.role === "assistant";
}
