import { classifyEvent, type ErrorOrigin } from "../../errors/classify.ts";
import type { Failure } from "../../stream/assembler.ts";
import { isRecord } from "../../stream/json.ts";
import { clipErrorValue } from "../reply/error-value.ts";
import { lookUp, type ReplyEnd } from "../reply/reply-end.ts";

const FILTERED: Failure = { kind: "content_filter", message: "The provider's content filter stopped the answer" };
const CANCELLED: Failure = { kind: "retryable", message: "The server cancelled the answer" };
const BROKEN: Failure = { kind: "retryable", message: "The provider broke off the answer with an error" };
const UNFINISHED: Failure = { kind: "retryable", message: "The server sent an answer that is not finished" };

/** What a status means when the event that bears the response does not say it already. */
const BY_STATUS: Readonly<Record<string, string>> = {
  failed: "response.failed",
  incomplete: "response.incomplete",
  cancelled: "response.cancelled",
};

/** The ending of a response that came with this event; a response without an event is a whole body. */
export function endingOf(response: Record<string, unknown>, event: string, origin: ErrorOrigin): ReplyEnd {
  const type = event === "response.completed" ? (lookUp(BY_STATUS, response.status) ?? event) : event;
  if (type === "response.failed") return { failure: failureOf(response, origin) };
  if (type === "response.cancelled") return { failure: CANCELLED };
  if (type === "response.incomplete") return incomplete(response.incomplete_details);
  return { end: "stop" };
}

/** A body that is a response on its own must be finished: the request did not ask for one in the background. */
export function wholeEndingOf(response: Record<string, unknown>, origin: ErrorOrigin): ReplyEnd {
  const { status } = response;
  if (status === "in_progress" || status === "queued") return { failure: UNFINISHED };
  return endingOf(response, "response.completed", origin);
}

/** A reason that nobody knows is a cut as well: calls of such an answer must not run. */
function incomplete(details: unknown): ReplyEnd {
  const reason = isRecord(details) ? details.reason : undefined;
  return reason === "content_filter" ? { failure: FILTERED } : { end: "length" };
}

function failureOf({ error, incomplete_details: details }: Record<string, unknown>, origin: ErrorOrigin): Failure {
  if (!error) return isRecord(details) && details.reason === "content_filter" ? FILTERED : BROKEN;
  const failure = classifyEvent(clipErrorValue(error), origin);
  // Told by the server itself, in the middle of its work: what nobody knows is worth another try.
  return failure.kind === "unknown" ? { ...failure, kind: "retryable" } : failure;
}
