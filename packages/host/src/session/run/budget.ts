import type { AssistantMessage, Model, Usage } from "@tau/llm";
import { addUsage } from "../../compaction/summarise.ts";
import type { Budget, Sleep } from "../options.ts";
import { NOTHING_SPENT, type Spent, spend } from "../usage/stats.ts";
import type { Chain } from "./chain.ts";
import type { LimitHit, Notice } from "./failure.ts";
import type { RunYield } from "./outcome.ts";
import { visibleText } from "./reply-verdict.ts";

const ROWS = [
  { limit: "maxTurns", used: (spent: Spent) => spent.turns },
  { limit: "maxCost", used: (spent: Spent) => spent.cost },
  { limit: "maxTokens", used: (spent: Spent) => spent.tokens },
] as const;

const NO_USAGE: Usage = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

/** What is left of a budget. */
export interface LimitsLeft {
  readonly maxTurns?: number;
  /** US dollars. */
  readonly maxCost?: number;
  /** Milliseconds, at least 1. */
  readonly maxMs?: number;
}

/** What a prompt that asked nothing gave. */
export const NO_YIELD: RunYield = { text: "", usage: NO_USAGE, cost: 0 };

/**
 * Counts what this session object has used of its budget, over all runs, retries and summaries (report R191), and what
 * the prompt that is on gave and used.
 */
export class BudgetKeeper {
  readonly #budget: Budget;
  readonly #sleep: Sleep;
  readonly #now: () => number;
  #spent: Spent = NOTHING_SPENT;
  #yield: RunYield = NO_YIELD;
  readonly #unpriced = new Set<string>();
  #usedMs: number | undefined;
  /** When the run that is on began, on the session's clock. */
  #begun: number | undefined;

  constructor(budget: Budget, sleep: Sleep, now: () => number) {
    this.#budget = budget;
    this.#sleep = sleep;
    this.#now = now;
  }

  get spent(): Spent {
    return this.#spent;
  }

  /** Of the prompt that is on, or was the last. */
  get yield(): RunYield {
    return this.#yield;
  }

  /** A new prompt begins. */
  begin(): void {
    this.#yield = NO_YIELD;
  }

  /** A request is made. */
  request(): void {
    this.#spent = { ...this.#spent, turns: this.#spent.turns + 1 };
  }

  /** A reply has come. Half an answer is not an answer: its text does not count. */
  reply(reply: AssistantMessage): void {
    this.use(reply.usage);
    const text = reply.stopReason === "error" || reply.stopReason === "aborted" ? "" : visibleText(reply);
    if (text !== "") this.#yield = { ...this.#yield, text };
  }

  /** Something was used, by a reply or beside the run. */
  use(usage: Usage | undefined): void {
    this.#spent = spend(this.#spent, usage);
    if (!usage) return;
    const sum = addUsage(this.#yield.usage, usage);
    this.#yield = { ...this.#yield, usage: sum, cost: sum.cost.total };
  }

  /** What is left of the limits at this moment, for what this session starts; absent means no limit. */
  left(): LimitsLeft {
    const { maxTurns, maxCost, timeoutMs } = this.#budget;
    const usedMs = this.#used() + (this.#begun === undefined ? 0 : this.#now() - this.#begun);
    return {
      ...(maxTurns !== undefined && { maxTurns: Math.max(0, maxTurns - this.#spent.turns) }),
      ...(maxCost !== undefined && { maxCost: Math.max(0, maxCost - this.#spent.cost) }),
      ...(timeoutMs !== undefined && { maxMs: Math.max(1, timeoutMs - usedMs) }),
    };
  }

  /** The first budget that is used up, asked before each request. */
  hit(): LimitHit | undefined {
    for (const { limit, used } of ROWS) {
      const most = this.#budget[limit];
      if (most !== undefined && used(this.#spent) >= most) return { limit, params: { most } };
    }
    return undefined;
  }

  /** What to say before a model is asked whose costs cannot be counted against the limit; once for each (report R218). */
  unpriced({ provider, id, cost }: Model): Notice | undefined {
    const { maxCost } = this.#budget;
    const model = `${provider}/${id}`;
    if (maxCost === undefined || this.#unpriced.has(model)) return undefined;
    if ([cost.input, cost.output, cost.cacheRead, cost.cacheWrite].some((price) => price > 0)) return undefined;
    this.#unpriced.add(model);
    return { code: "no_prices", params: { model, most: maxCost } };
  }

  /** Stops the chain when the time is up. Returns what ends the count. */
  watch(chain: Chain, expired: (hit: LimitHit) => void): () => void {
    const { timeoutMs } = this.#budget;
    if (timeoutMs === undefined) return () => undefined;
    const begun = this.#now();
    const used = this.#used();
    this.#begun = begun;
    this.#usedMs = used;
    const left = Math.max(0, timeoutMs - used);
    void this.#sleep(left, chain.over).then(() => {
      if (!chain.over.aborted) expired({ limit: "timeout", params: { most: timeoutMs } });
    });
    return () => {
      this.#usedMs = used + this.#now() - begun;
      this.#begun = undefined;
    };
  }

  /** Milliseconds of the runs before this one, or of the process before its first. */
  #used(): number {
    return this.#usedMs ?? this.#budget.spentMs?.() ?? 0;
  }
}
