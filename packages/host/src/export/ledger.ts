import type { Usage } from "@tau/llm";
import { foldStats, NO_STATS, type StatsState, type Totals } from "../session/usage/stats.ts";
import type { Entry } from "../store/entries.ts";
import { nameOf } from "./entry-text.ts";

/** What was spent between two user messages, in file order. */
export interface TurnUsage {
  /** Number of the entry it begins with. */
  readonly first: number;
  /** Prompt tokens from the provider's cache. */
  cached: number;
  /** Other prompt tokens. */
  fresh: number;
  output: number;
  /** US dollars. */
  cost: number;
}

/** Sums over all branches, failed attempts included. */
export interface SessionLedger {
  readonly totals: Totals;
  readonly turns: readonly TurnUsage[];
  /** Replies by `provider/model`. */
  readonly models: ReadonlyMap<string, number>;
  readonly compactions: number;
}

/** Adds up what the entries of a session say about usage. */
export class Ledger {
  #stats: StatsState = NO_STATS;
  readonly #turns: TurnUsage[] = [];
  readonly #models = new Map<string, number>();
  #compactions = 0;

  take(entry: Entry, number: number): void {
    this.#stats = foldStats(this.#stats, entry);
    if (entry.type === "compaction") this.#compactions++;
    if (entry.type === "message" && entry.message.role === "user") this.#begin(number);
    if (entry.type === "message" && entry.message.role === "assistant") {
      const model = `${nameOf(entry.message.provider)}/${nameOf(entry.message.model)}`;
      this.#models.set(model, (this.#models.get(model) ?? 0) + 1);
    }
    const usage = usageOf(entry);
    if (usage) this.#spend(usage, number);
  }

  finish(): SessionLedger {
    const turns = this.#turns.filter((turn) => turn.cached + turn.fresh + turn.output + turn.cost > 0);
    return { totals: this.#stats.session, turns, models: this.#models, compactions: this.#compactions };
  }

  #begin(first: number): TurnUsage {
    const turn = { first, cached: 0, fresh: 0, output: 0, cost: 0 };
    this.#turns.push(turn);
    return turn;
  }

  #spend(usage: Usage, number: number): void {
    const turn = this.#turns.at(-1) ?? this.#begin(number);
    turn.cached += amount(usage.cacheRead);
    turn.fresh += amount(usage.input) + amount(usage.cacheWrite);
    turn.output += amount(usage.output);
    turn.cost += amount(usage.cost?.total);
  }
}

function usageOf(entry: Entry): Usage | undefined {
  if (entry.type === "message") return entry.message.role === "assistant" ? entry.message.usage : undefined;
  return "usage" in entry ? (entry.usage ?? undefined) : undefined;
}

/** Files of other programs may lack a number, or have something else in its place. */
export function amount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}
