/** When to compact and how much to keep, in tokens. */
export interface CompactionSettings {
  readonly enabled: boolean;
  /** Room that stays free for the next reply. */
  readonly reserveTokens: number;
  /** Newest part of the conversation that is kept word for word. */
  readonly keepRecentTokens: number;
}

export const DEFAULT_COMPACTION: CompactionSettings = {
  enabled: true,
  reserveTokens: 16_384,
  keepRecentTokens: 20_000,
};

/** A small window cannot spare the default reserve: a quarter of the window is the most. */
const LARGEST_RESERVE = 1 / 4;
/** The kept part must leave room for the summary and for new work. */
const LARGEST_KEEP = 1 / 2;

/** Tokens above which a context of this window is compacted. */
export function threshold(contextWindow: number, { reserveTokens }: CompactionSettings): number {
  return contextWindow - Math.min(reserveTokens, contextWindow * LARGEST_RESERVE);
}

/** Tokens of the newest messages that a compaction keeps. */
export function keepBudget(contextWindow: number, settings: CompactionSettings): number {
  return Math.min(settings.keepRecentTokens, threshold(contextWindow, settings) * LARGEST_KEEP);
}
