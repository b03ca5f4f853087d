const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
// "6m0s", "1.5s", "20ms", "1h2m": a duration as OpenAI's headers and many texts write it.
const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/;
const IN_TEXT =
  /(?:try again|retry|retrying|(?<!\w)reset\w*|available)(?: again)? (?:in|after) ((?:\d+(?:\.\d+)?\s?(?:ms|s|m|h|d)(?:ec|econds?|in|inutes?|ours?|ays?)?(?:\b|(?=\d))\s?)+)/i;
// From this on a number is no count of seconds but a date: in seconds, or in milliseconds.
const EPOCH_SECONDS = 1e9;
const EPOCH_MS = 1e12;

/**
 * How long the server asks to wait, in milliseconds, from its headers (names in lower case): `retry-after-ms`,
 * `retry-after` in seconds or as HTTP date (RFC 9110, 10.2.3), else the reset time of an exhausted limit. `now` is
 * Unix time in milliseconds. Undefined when it does not say.
 */
export function retryAfterOf(headers: Record<string, string>, now = Date.now()): number | undefined {
  const ms = Number(headers["retry-after-ms"] || Number.NaN);
  if (Number.isFinite(ms)) return Math.max(0, ms);
  return waitFrom(headers["retry-after"], now) ?? resetOf(headers, now);
}

/** The wait that an error text names, e.g. `Please try again in 7m12s`, in milliseconds. */
export function retryAfterInText(text: string): number | undefined {
  const match = IN_TEXT.exec(text);
  return match ? durationMs((match[1] ?? "").replace(/\s/g, "")) : undefined;
}

/** A duration such as `17s`, `1.5s`, `6m0s`, `20ms` or `3 minutes` without its blank, in milliseconds. */
export function durationMs(text: string): number | undefined {
  const short = text.replace(/(\d)(ms|[smhd])[a-z]*?(?=\d|$)/g, "$1$2");
  if (!DURATION.test(short)) return undefined;
  let total = 0;
  // regexp: DURATION has matched, so each number ends in a unit.
  for (const [, count, unit] of short.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    total += Number(count) * (UNIT_MS[unit ?? ""] ?? 0);
  }
  return Math.round(total);
}

function waitFrom(value: string | undefined, now: number): number | undefined {
  const text = value?.trim();
  if (!text) return undefined;
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
