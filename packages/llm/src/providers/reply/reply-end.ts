import { classifyEvent, type ErrorOrigin } from "../../errors/classify.ts";
import type { AssistantAssembler, Failure } from "../../stream/assembler.ts";
import { clipErrorValue } from "./error-value.ts";

/** How a reply ended: by itself, at the limit, with calls, or with a failure. */
export type ReplyEnd = { end: "stop" | "length" | "toolUse" } | { failure: Failure };

/** A call that cannot be read; by this code the session asks the model again with a hint. */
const MALFORMED_CALL = "malformed_tool_call";

/** A reply without a single token that hit the limit: the prompt left no room (R116). */
const NO_ROOM: Failure = {
  kind: "overflow",
  message: "The model had no room to answer: the prompt fills its context window",
};

/** The reply announced a call, and none can be read from it (R208). */
const NO_CALL: Failure = malformedCall("The model announced a tool call, but the reply has none");

/** The failure of a reply whose call is not readable. */
export function malformedCall(message: string): Failure {
  return { kind: "retryable", message, details: { code: MALFORMED_CALL } };
}

/**
 * Ends a reply whose blocks are all there.
 * @param outputTokens as the server counts them; 0 when it says nothing
 */
export function endReply(assembler: AssistantAssembler, end: ReplyEnd, outputTokens: number): void {
  const { content } = assembler.message;
  if ("failure" in end) assembler.fail(end.failure);
  else if (end.end === "length" && content.length === 0 && outputTokens === 0) assembler.fail(NO_ROOM);
  else if (end.end === "toolUse" && !content.some(({ type }) => type === "toolCall")) assembler.fail(NO_CALL);
  else assembler.finish(end.end);
}

/** Ends a reply by what the server says went wrong. */
export function failReply(assembler: AssistantAssembler, value: unknown, origin: ErrorOrigin): void {
  assembler.fail(classifyEvent(clipErrorValue(value), origin));
}

/** The entry of a table by a word of the server: own keys only, whatever the word is (R306). */
export function lookUp<Value>(table: Readonly<Record<string, Value>>, word: unknown): Value | undefined {
  return typeof word === "string" && Object.hasOwn(table, word) ? table[word] : undefined;
}
