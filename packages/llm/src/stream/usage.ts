import type { ModelCost, TokenPrices } from "../protocol/model.ts";
import type { Usage } from "../protocol/usage.ts";

/** Token counts of one response, each token in exactly one of the four (law: `input` excludes cached tokens). */
export interface TokenCounts {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

const PER_MILLION = 1_000_000;

/** Usage in the meaning of the protocol: counts, their sum, and the price in US dollars by the model's prices a million tokens. */
export function priceUsage(tokens: TokenCounts, cost: ModelCost): Usage {
  const prices = pricesOf(tokens, cost);
  const input = (tokens.input * prices.input) / PER_MILLION;
  const output = (tokens.output * prices.output) / PER_MILLION;
  const cacheRead = (tokens.cacheRead * prices.cacheRead) / PER_MILLION;
  const cacheWrite = (tokens.cacheWrite * prices.cacheWrite) / PER_MILLION;
  return {
    ...tokens,
    totalTokens: tokens.input + tokens.output + tokens.cacheRead + tokens.cacheWrite,
    cost: { input, output, cacheRead, cacheWrite, total: input + output + cacheRead + cacheWrite },
  };
}

/** The prices of a request of this size. */
function pricesOf({ input, cacheRead, cacheWrite }: TokenCounts, cost: ModelCost): TokenPrices {
  const size = input + cacheRead + cacheWrite;
  const fitting = cost.tiers?.filter(({ inputTokensAbove }) => size > inputTokensAbove) ?? [];
  return fitting.sort((a, b) => b.inputTokensAbove - a.inputTokensAbove)[0] ?? cost;
}

/** A number of tokens as a server gives it, some as a text; undefined for what is none or no sensible count. */
export function tokenCount(value: unknown): number | undefined {
  const number = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
  if (typeof number !== "number" || !(number >= 0)) return undefined;
  const count = Math.round(number);
  return Number.isSafeInteger(count) ? count : undefined;
}

/** Usage of a response of which nothing is known. */
export function noUsage(): Usage {
  return {
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 0,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  };
}
