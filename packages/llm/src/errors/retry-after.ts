const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
// "6m0s", "1.5s", "20ms", "1h2m": a duration as OpenAI's headers and many texts write it.
const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/;
const IN_TEXT =
  /(?:try again|retry|retrying|(?<!\w)reset\w*|available)(?: again)? (?:in|after) ((?:\d+(?:\.\d+)?\s?(?:ms|s|m|h|d)(?:ec|econds?|in|inutes?|ours?|ays?)?(?:\b|(?=\d))\s?)+)/i;
// From this on a number is not a count of seconds but a date: in seconds, or in milliseconds.
const EPOCH_SECONDS = 1e9;
const EPOCH_MS = 1e12;

// A year: figures above it mean nothing, and are not dates that could be shown.
const MAX_WAIT_MS = 366 * 86_400_000;
// Longer values of a header, and longer words, are not durations.
const MAX_CHARS = 64;

/**
 * How long the server asks to wait, in milliseconds, from its headers (names in lower case): `retry-after-ms`,
 * `retry-after` in seconds or as HTTP date (RFC 9110, 10.2.3), else the reset time of an exhausted limit. Points in
 * time are by the server's clock: its `date` header gives it (R216), else `now`, Unix time in milliseconds, is taken.
 * At most a year. Undefined when it does not say.
 */
export function retryAfterOf(headers: Record<string, string>, now = Date.now()): number | undefined {
  const date = Date.parse(headers.date ?? "");
  const serverNow = Number.isNaN(date) ? now : date;
  const ms = Number(headers["retry-after-ms"] || Number.NaN);
  const wait = Number.isFinite(ms) ? ms : (waitFrom(headers["retry-after"], serverNow) ?? resetOf(headers, serverNow));
  return wait === undefined ? undefined : Math.min(MAX_WAIT_MS, Math.max(0, wait));
}

/** The wait that an error text names, e.g. `Please try again in 7m12s`, in milliseconds. */
export function retryAfterInText(text: string): number | undefined {
  const match = IN_TEXT.exec(text);
  return match ? durationMs((match[1] ?? "").replace(/\s/g, "")) : undefined;
}

/** A duration such as `17s`, `1.5s`, `6m0s`, `20ms` or `3 minutes` without its space, in milliseconds. */
export function durationMs(text: string): number | undefined {
  if (text.length > MAX_CHARS) return undefined;
  const short = text.replace(/(\d)(ms|[smhd])[a-z]*?(?=\d|$)/g, "$1$2");
  if (!DURATION.test(short)) return undefined;
  let total = 0;
  // regexp: DURATION has matched, so each number ends in a unit.
  for (const [, count, unit] of short.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    total += Number(count) * (UNIT_MS[unit ?? ""] ?? 0);
  }
  return Math.min(MAX_WAIT_MS, Math.round(total));
}

function waitFrom(value: string | undefined, now: number): number | undefined {
  const text = value?.trim();
  if (!text || text.length > MAX_CHARS) return undefined;
  const number = Number(text);
  if (Number.isFinite(number)) {
    if (number >= EPOCH_MS) return Math.max(0, number - now);
    if (number >= EPOCH_SECONDS) return Math.max(0, number * 1000 - now);
    return Math.max(0, number * 1000);
  }
  const duration = durationMs(text);
  if (duration !== undefined) return duration;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** The latest reset among the limits of which nothing remains. */
function resetOf(headers: Record<string, string>, now: number): number | undefined {
  const waits: number[] = [];
  for (const [name, value] of Object.entries(headers)) {
    const limit = name.indexOf("ratelimit");
    if (limit === -1 || !name.includes("reset", limit)) continue;
    if (headers[name.replace("reset", "remaining")] !== "0") continue;
    const wait = waitFrom(value, now);
    if (wait !== undefined) waits.push(wait);
  }
  return waits.length > 0 ? Math.max(...waits) : undefined;
}
