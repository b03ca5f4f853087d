/**
 * What ignore rules hide must not look as if it were not there (R090). Each search keeps the rules, and then, when its
 * path was named or it found little, looks at the ignored files as well, in bounded time.
 */

/** With as many findings no one concludes that there are none; ignored files are not looked at then. */
const FEW_FINDINGS = 10;

/** Findings in ignored files that are shown beside others; `dist` repeats `src`, node_modules holds the world. */
export const MAX_BESIDE_OTHERS = 10;

/** Names of ignored files in a note. */
const MAX_NAMED = 3;

/** How long the second look may take, in ms. */
export function ignoredTimeoutMs({ named, found }: { named: boolean; found: number }): number {
  if (found > 0) return named ? 2_000 : 1_000;
  return named ? 10_000 : 3_000;
}

/** Whether a second look is worth its time. */
export function looksAtIgnored({ named, found }: { named: boolean; found: number }): boolean {
  return named || found < FEW_FINDINGS;
}

/** "a, b, c and 7 more". */
export function listed(names: readonly string[], total = names.length): string {
  const shown = names.slice(0, MAX_NAMED);
  const rest = total - shown.length;
  return rest > 0 ? `${shown.join(", ")} and ${rest} more` : shown.join(", ");
}

/** "1 file", "2 files". */
export function counted(count: number, noun: string): string {
  const plural = noun.endsWith("ch") ? `${noun}es` : `${noun}s`;
  return `${count} ${count === 1 ? noun : plural}`;
}
