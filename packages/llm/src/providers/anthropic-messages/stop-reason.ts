import type { Failure } from "../../stream/assembler.ts";
import { lookUp, type ReplyEnd } from "../reply/reply-end.ts";

const REFUSED: Failure = { kind: "content_filter", message: "The model refused to answer this conversation" };

const STOP_REASONS: Readonly<Record<string, ReplyEnd>> = {
  end_turn: { end: "stop" },
  stop_sequence: { end: "stop" },
  // A long-running turn of server-side tools; what it had is an answer.
  pause_turn: { end: "stop" },
  tool_use: { end: "toolUse" },
  max_tokens: { end: "length" },
  model_context_window_exceeded: { failure: { kind: "overflow", message: "The context window of the model is full" } },
  refusal: { failure: REFUSED },
  sensitive: { failure: REFUSED },
};

/** What the API's word for the end of an answer means; none, or one that nobody knows, is a stop. */
export function stopReasonOf(word: string | undefined): ReplyEnd {
  return lookUp(STOP_REASONS, word) ?? { end: "stop" };
}
