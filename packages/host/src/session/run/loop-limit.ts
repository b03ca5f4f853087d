import type { LimitName } from "@tau/agent";
import type { AssistantMessage, ToolCall } from "@tau/llm";
import type { SessionSettings } from "../options.ts";
import type { LimitHit } from "./failure.ts";

/** Longest arguments of a call that are shown, in characters. */
const SHOWN_ARGUMENTS = 200;

/**
 * A limit that the loop names, with its figures.
 * @param reply the last one of the run
 */
export function loopLimit(limit: LimitName, reply: AssistantMessage, { limits, budget }: SessionSettings): LimitHit {
  const calls = reply.content.filter((block) => block.type === "toolCall");
  switch (limit) {
    case "maxTurns":
      return { limit, params: { most: budget.maxTurns ?? 0 } };
    case "maxConsecutiveLengthStops":
      return { limit, params: { most: limits.maxConsecutiveLengthStops ?? 3 } };
    case "maxIdenticalCalls":
      return { limit, params: { most: limits.maxIdenticalCalls ?? 20, call: shownCall(calls.at(-1)) } };
    case "maxCallsPerMessage":
      return { limit, params: { most: limits.maxCallsPerMessage ?? 0, calls: calls.length } };
  }
}

/** A call as a person reads it, in one line. */
function shownCall(call: ToolCall | undefined): string {
  if (!call) return "";
  const args = JSON.stringify(call.arguments);
  return `${call.name} ${args.length > SHOWN_ARGUMENTS ? `${args.slice(0, SHOWN_ARGUMENTS)}…` : args}`;
}
