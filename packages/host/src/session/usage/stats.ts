import type { Usage } from "@tau/llm";
import { assertNever } from "../../platform/assert-never.ts";
import type { Entry } from "../../store/entries.ts";

/** Tokens by kind; `input` excludes cached ones. */
export interface TokenTotals {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly total: number;
}

export interface Totals {
  readonly userMessages: number;
  readonly assistantMessages: number;
  readonly toolCalls: number;
  readonly toolResults: number;
  readonly totalMessages: number;
  readonly tokens: TokenTotals;
  /** US dollars. */
  readonly cost: number;
}

/** Sums over a session, and over what followed its newest user message. Attempts that were hidden count too (F6). */
export interface StatsState {
  readonly session: Totals;
  readonly turn: Totals;
}

const NO_TOTALS: Totals = {
  userMessages: 0,
  assistantMessages: 0,
  toolCalls: 0,
  toolResults: 0,
  totalMessages: 0,
  tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  cost: 0,
};

export const NO_STATS: StatsState = { session: NO_TOTALS, turn: NO_TOTALS };

/** The sums after one more entry of the file. */
export function foldStats(state: StatsState, entry: Entry): StatsState {
  const starts = entry.type === "message" && entry.message.role === "user";
  return { session: addEntry(state.session, entry), turn: addEntry(starts ? NO_TOTALS : state.turn, entry) };
}

function addEntry(totals: Totals, entry: Entry): Totals {
  switch (entry.type) {
    case "message":
      return addMessage(totals, entry.message);
    case "custom_message":
      return { ...totals, totalMessages: totals.totalMessages + 1 };
    case "usage":
    case "compaction":
    case "branch_summary":
      return entry.usage ? addUsage(totals, entry.usage) : totals;
    case "model_change":
    case "thinking_level_change":
    case "context_edit":
    case "custom":
    case "label":
    case "session_info":
      return totals;
    default:
      return assertNever(entry, totals);
  }
}

type StoredMessage = Extract<Entry, { type: "message" }>["message"];

function addMessage(totals: Totals, message: StoredMessage): Totals {
  if (message.role === "system") return totals;
  const counted = { ...totals, totalMessages: totals.totalMessages + 1 };
  if (message.role === "user") return { ...counted, userMessages: totals.userMessages + 1 };
  if (message.role === "toolResult") return { ...counted, toolResults: totals.toolResults + 1 };
  if (message.role !== "assistant") return counted;
  const calls = message.content.filter((block) => block.type === "toolCall").length;
  return {
    ...addUsage(counted, message.usage),
    assistantMessages: totals.assistantMessages + 1,
    toolCalls: totals.toolCalls + calls,
  };
}

/** Files of other programs may lack a number. */
const number = (value: number | undefined): number => (Number.isFinite(value) ? (value ?? 0) : 0);

function addUsage(totals: Totals, usage: Usage): Totals {
  const { tokens } = totals;
  const input = number(usage.input);
  const output = number(usage.output);
  const cacheRead = number(usage.cacheRead);
  const cacheWrite = number(usage.cacheWrite);
  return {
    ...totals,
    cost: totals.cost + number(usage.cost?.total),
    tokens: {
      input: tokens.input + input,
      output: tokens.output + output,
      cacheRead: tokens.cacheRead + cacheRead,
      cacheWrite: tokens.cacheWrite + cacheWrite,
      total: tokens.total + input + output + cacheRead + cacheWrite,
    },
  };
}

/** Share of the prompt tokens that the provider read from its cache, 0 to 1. */
export function cacheHitShare({ input, cacheRead, cacheWrite }: TokenTotals): number {
  const prompt = input + cacheRead + cacheWrite;
  return prompt === 0 ? 0 : cacheRead / prompt;
}

/** What a budget is measured against: spent by this process, retries and summaries included. */
export interface Spent {
  /** Requests to the model. */
  readonly turns: number;
  readonly tokens: number;
  /** US dollars. */
  readonly cost: number;
}

export const NOTHING_SPENT: Spent = { turns: 0, tokens: 0, cost: 0 };

/** What was spent after one more response. */
export function spend(spent: Spent, usage: Usage | undefined): Spent {
  if (!usage) return spent;
  const tokens = number(usage.input) + number(usage.output) + number(usage.cacheRead) + number(usage.cacheWrite);
  return { ...spent, tokens: spent.tokens + tokens, cost: spent.cost + number(usage.cost?.total) };
}
