import type { AgentMessage } from "@tau/agent";

/** Where a conversation is cut: `messages.slice(index)` is kept. */
export interface Cut {
  readonly index: number;
  /** The cut lies inside a turn: the user message that began it is among the summarised ones. */
  readonly splitsTurn: boolean;
}

/**
 * Finds the first kept message so that about `budget` tokens stay. A tool result never begins the kept part, since its
 * call would be missing (law F12); an over-long turn is cut at one of its assistant messages.
 * @param count tokens of one message
 * @returns undefined when there is nothing before a legal cut
 */
export function findCut(
  messages: readonly AgentMessage[],
  budget: number,
  count: (message: AgentMessage) => number,
): Cut | undefined {
  const wanted = indexWithin(messages, budget, count);
  const index = legalFrom(messages, wanted) ?? legalBefore(messages, wanted);
  if (index === undefined || !hasContent(messages, index)) return undefined;
  return { index, splitsTurn: messages[index]?.role === "assistant" };
}

/** The smallest index whose tail fits the budget; the last message is kept whatever it costs. */
function indexWithin(
  messages: readonly AgentMessage[],
  budget: number,
  count: (message: AgentMessage) => number,
): number {
  let tokens = 0;
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages[i];
    tokens += message ? count(message) : 0;
    if (tokens > budget) return Math.min(i + 1, messages.length - 1);
  }
  return 0;
}

function legalFrom(messages: readonly AgentMessage[], from: number): number | undefined {
  for (let i = from; i < messages.length; i++) if (isLegal(messages[i])) return i;
  return undefined;
}

function legalBefore(messages: readonly AgentMessage[], from: number): number | undefined {
  for (let i = from - 1; i > 0; i--) if (isLegal(messages[i])) return i;
  return undefined;
}

/** Everything may begin the kept part but a result (its call is before it) and a system message (it is in the head then). */
function isLegal(message: AgentMessage | undefined): boolean {
  return message !== undefined && message.role !== "toolResult" && message.role !== "system";
}

/** A part that holds only an older summary is not worth another one. */
function hasContent(messages: readonly AgentMessage[], end: number): boolean {
  for (let i = 0; i < end; i++) {
    const role = messages[i]?.role;
    if (role !== "compactionSummary" && role !== "system") return true;
  }
  return false;
}

/** The newest user message before `end`. */
export function lastUserIndex(messages: readonly AgentMessage[], end: number): number | undefined {
  for (let i = end - 1; i >= 0; i--) if (messages[i]?.role === "user") return i;
  return undefined;
}
