/** Larger limits help no one: the text of a result is bounded anyway. */
const MAX_LIMIT = 10_000;

/** The `limit` argument of a tool as a count of at least 1. */
export function resultLimit(limit: number | undefined, fallback: number): number {
  if (limit === undefined || !(limit > 0)) return fallback;
  return Math.min(MAX_LIMIT, Math.max(1, Math.floor(limit)));
}
