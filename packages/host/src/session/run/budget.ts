import type { Budget } from "../options.ts";
import type { Spent } from "../usage/stats.ts";
import type { LimitReached } from "./outcome.ts";

export interface BudgetHit {
  readonly limit: LimitReached;
  /** One line for people. */
  readonly message: string;
}

interface Row {
  readonly limit: LimitReached;
  readonly most: (budget: Budget) => number | undefined;
  readonly used: (spent: Spent) => number;
  readonly say: (most: number) => string;
}

const ROWS: readonly Row[] = [
  { limit: "maxTurns", most: (b) => b.maxTurns, used: (s) => s.turns, say: (most) => `${most} turns` },
  { limit: "maxCost", most: (b) => b.maxCost, used: (s) => s.cost, say: (most) => `$${decimal(most)}` },
  { limit: "maxTokens", most: (b) => b.maxTokens, used: (s) => s.tokens, say: (most) => `${most} tokens` },
];

/** The first budget that is used up, asked before each request (report R191). */
export function budgetHit(budget: Budget, spent: Spent): BudgetHit | undefined {
  for (const { limit, most, used, say } of ROWS) {
    const value = most(budget);
    if (value !== undefined && used(spent) >= value) {
      return { limit, message: `Stopped: the limit of ${say(value)} is reached. The session can be continued.` };
    }
  }
  return undefined;
}

/** Without an exponent, which no price has. */
function decimal(value: number): string {
  const text = String(value);
  return /e-/.test(text) ? value.toFixed(20).replace(/0+$/, "") : text;
}

/** What is said when the time is up. */
export function timeoutHit(timeoutMs: number): BudgetHit {
  const message = `Stopped: the limit of ${timeoutMs / 1000} s is reached. The session can be continued.`;
  return { limit: "timeout", message };
}
