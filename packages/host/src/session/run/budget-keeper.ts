import type { Usage } from "@tau/llm";
import type { Budget, Sleep } from "../options.ts";
import { NOTHING_SPENT, type Spent, spend } from "../usage/stats.ts";
import { type BudgetHit, budgetHit, timeoutHit } from "./budget.ts";
import type { Chain } from "./chain.ts";

/** Counts what this session object has used of its budget, over all runs, retries and summaries (report R191). */
export class BudgetKeeper {
  readonly #budget: Budget;
  readonly #sleep: Sleep;
  readonly #now: () => number;
  #spent: Spent = NOTHING_SPENT;
  #usedMs: number | undefined;

  constructor(budget: Budget, sleep: Sleep, now: () => number) {
    this.#budget = budget;
    this.#sleep = sleep;
    this.#now = now;
  }

  get spent(): Spent {
    return this.#spent;
  }

  request(): void {
    this.#spent = { ...this.#spent, turns: this.#spent.turns + 1 };
  }

  use(usage: Usage | undefined): void {
    this.#spent = spend(this.#spent, usage);
  }

  hit(): BudgetHit | undefined {
    return budgetHit(this.#budget, this.#spent);
  }

  /** Stops the chain when the time is up. Returns what ends the count. */
  watch(chain: Chain, expired: (hit: BudgetHit) => void): () => void {
    const { timeoutMs } = this.#budget;
    if (timeoutMs === undefined) return () => undefined;
    const begun = this.#now();
    const used = this.#usedMs ?? this.#budget.spentMs?.() ?? 0;
    const left = Math.max(0, timeoutMs - used);
    void this.#sleep(left, chain.over).then(() => {
      if (!chain.over.aborted) expired(timeoutHit(timeoutMs));
    });
    return () => {
      this.#usedMs = used + this.#now() - begun;
    };
  }
}
