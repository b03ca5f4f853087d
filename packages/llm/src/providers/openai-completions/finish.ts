import type { Failure } from "../../stream/assembler.ts";
import { lookUp, malformedCall, type ReplyEnd } from "../reply/reply-end.ts";

const FILTERED = "The provider's content filter stopped the answer";

const REASONS: Readonly<Record<string, ReplyEnd>> = {
  stop: { end: "stop" },
  end_turn: { end: "stop" },
  eos: { end: "stop" },
  length: { end: "length" },
  max_tokens: { end: "length" },
  model_length: { end: "length" },
  tool_calls: { end: "toolUse" },
  tool_use: { end: "toolUse" },
  function_call: { end: "toolUse" },
  content_filter: failure("content_filter", FILTERED),
  content_filtered: failure("content_filter", FILTERED),
  safety: failure("content_filter", FILTERED),
  sensitive: failure("content_filter", FILTERED),
  recitation: failure("content_filter", FILTERED),
  error: failure("retryable", "The provider broke off the answer with an error"),
  abort: failure("retryable", "The server aborted the answer"),
  network_error: failure("retryable", "The provider broke off the answer: network error"),
  insufficient_system_resource: failure("retryable", "The provider broke off the answer: no capacity"),
  malformed_function_call: { failure: malformedCall("The model wrote a malformed tool call") },
  unexpected_tool_call: { failure: malformedCall("The model called a tool that it was not given") },
  model_context_window_exceeded: failure("overflow", "The context window of the model is full"),
};

/** The meaning of a finish reason; one that nobody knows is an end as good as `stop`. */
export function finishOf(reason: unknown): ReplyEnd {
  const word = typeof reason === "string" && reason.length <= 100 ? reason.toLowerCase() : "";
  return lookUp(REASONS, word) ?? { end: "stop" };
}

function failure(kind: Failure["kind"], message: string): ReplyEnd {
  return { failure: { kind, message } };
}
