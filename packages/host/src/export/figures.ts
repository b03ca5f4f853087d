/** Tokens as people say them: 950, 12.3k, 1.2M. */
export function tokens(count: number): string {
  if (count >= 999_950) return `${trimmed(count / 1_000_000)}M`;
  return count >= 1000 ? `${trimmed(count / 1000)}k` : String(Math.round(count));
}

function trimmed(value: number): string {
  return (value >= 100 ? value.toFixed(0) : value.toFixed(1)).replace(/\.0$/, "");
}

/** US dollars, with more digits the less it is. */
export function dollars(cost: number): string {
  if (cost === 0) return "$0";
  if (cost < 0.0001) return "<$0.0001";
  return `$${cost.toFixed(cost < 0.1 ? 4 : 2)}`;
}

/** A share of 0 to 1 as whole percent. */
export function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}

/** A number and its noun: "1 message", "2 messages", "3 replies". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;
}

/** Milliseconds as people say them: 340 ms, 2.3 s, 4 min. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  return `${Math.round(milliseconds / 60_000)} min`;
}

/** A moment as `2026-01-31 14:05` in UTC, and as ISO 8601; undefined when it is not a date. */
export function moment(value: unknown): { shown: string; iso: string } | undefined {
  const date = new Date(typeof value === "number" || typeof value === "string" ? value : Number.NaN);
  // Files without a time have that of 1970.
  if (Number.isNaN(date.getTime()) || date.getTime() < 86_400_000) return undefined;
  const iso = date.toISOString();
  return { iso, shown: iso.slice(0, 16).replace("T", " ") };
}
