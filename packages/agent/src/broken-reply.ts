import type { AssistantMessage, ToolResultMessage } from "@tau/llm";
import { callsOf } from "./calls.ts";
import { failed, resultMessage } from "./tool-result.ts";

export const NEVER_STARTED = "Aborted: this call was never started.";
const BROKEN_BY_ERROR = "The reply broke off with an error: this call was never started.";

/** Whether a reply ended before the model had finished it: none of its calls is ever started. */
export function isBrokenReply({ stopReason }: Pick<AssistantMessage, "stopReason">): boolean {
  return stopReason === "error" || stopReason === "aborted";
}

/**
 * The results that the loop gives to the calls of a reply that broke off; none for other replies. They follow from the
 * reply alone, so that a session file need not hold them.
 */
export function brokenReplyResults(reply: AssistantMessage): ToolResultMessage[] {
  if (!isBrokenReply(reply)) return [];
  const text = reply.stopReason === "error" ? BROKEN_BY_ERROR : NEVER_STARTED;
  return callsOf(reply).map((call) => resultMessage(call, failed(text), reply.timestamp));
}
