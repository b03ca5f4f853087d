import type { AssistantContent, AssistantMessage, ErrorKind, Model } from "@tau/llm";
import type { RunContext } from "./run-context.ts";
import { detach, errorText, isRecord, type Json, kindOf, parseJson } from "./values.ts";

/** How a reply ended that no provider finished. */
export type Ending = { stopReason: "error" | "aborted" | "length"; errorMessage: string; errorKind?: ErrorKind };

export const ABORTED: Ending = { stopReason: "aborted", errorMessage: "The run was aborted.", errorKind: "aborted" };
const ERROR = { stopReason: "error", errorKind: "unknown" } as const;
export const failure = (error: unknown): Ending => ({ ...ERROR, errorMessage: errorText(error) });
export const UNEXPLAINED = failure("The provider broke off the reply.");

/** A reply of nothing so far. */
export function blankReply({ api, provider, id }: Model, timestamp: number): AssistantMessage {
  const usage = soundUsage({});
  return { role: "assistant", content: [], api, provider, model: id, usage, stopReason: "stop", timestamp };
}

/** A copy with all fields. */
function soundUsage(given: unknown): AssistantMessage["usage"] {
  const { cost, ...tokens }: Json = isRecord(given) ? given : {};
  const prices = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0, ...(isRecord(cost) && cost) };
  return { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, ...tokens, cost: prices };
}

/**
 * The message as the transcript takes it: whatever was given, it has all fields, its calls have unique ids, names that
 * are text and arguments that are objects (C7, C10), and it bears the requested level (B7).
 * @param known ids that calls have got while they arrived, by contentIndex
 */
export function soundReply(run: RunContext, given: object, known = new Map<number, string>()): AssistantMessage {
  const { model, thinkingLevel = "off" } = run.config;
  const own = detach(given) ?? UNEXPLAINED;
  const message = { ...blankReply(model, run.now()), ...own, role: "assistant" as const, thinkingLevel };
  const blocks = (Array.isArray(message.content) ? message.content : []).filter(isRecord);
  const content = blocks.map((block, at) => soundBlock(block, (id) => known.get(at) ?? run.ids.claim(id)));
  // After an abort the reply is aborted whatever the provider says (R9).
  const ending = run.cutoff.signal.aborted && message.stopReason !== "aborted" ? ABORTED : {};
  return { ...message, content, usage: soundUsage(message.usage), ...ending };
}

function soundBlock(call: AssistantContent, claim: (id: string) => string): AssistantContent {
  if (call.type !== "toolCall") return call;
  const id = claim(call.id);
  const name = typeof call.name === "string" ? call.name : "";
  const given: unknown = call.arguments === undefined ? "" : call.arguments;
  const args = typeof given === "string" ? parseJson(given || "{}") : given;
  if (isRecord(args)) return { ...call, id, name, arguments: args };
  const error = `Arguments must be a JSON object, received ${kindOf(given)}.`;
  return { ...call, id, name, arguments: {}, invalidArguments: { raw: JSON.stringify(given).slice(0, 2000), error } };
}
