import { describe, expect, it } from "vitest";
import { durationMs, retryAfterInText, retryAfterOf } from "./retry-after.ts";

const YEAR = 366 * 86_400_000;
const NOW = Date.UTC(2026, 10, 30, 12, 0, 0);

describe("retryAfterOf", () => {
  it.each<[string, Record<string, string>, number | undefined]>([
    ["seconds", { "retry-after": "2" }, 2000],
    ["parts of seconds", { "retry-after": "0.5" }, 500],
    ["days", { "retry-after": "1382400" }, 1_382_400_000],
    ["a date", { "retry-after": "Mon, 30 Nov 2026 12:00:30 GMT" }, 30_000],
    ["a date that is over", { "retry-after": "Mon, 30 Nov 2026 11:00:00 GMT" }, 0],
    ["milliseconds, which win", { "retry-after-ms": "1500", "retry-after": "9" }, 1500],
    ["a duration", { "retry-after": "1m30s" }, 90_000],
    ["nonsense", { "retry-after": "soon" }, undefined],
    ["a negative number", { "retry-after": "-5" }, 0],
    ["nothing", {}, undefined],
    ["an exhausted limit", { "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s" }, 360_000],
    ["a limit that is not", { "x-ratelimit-remaining-requests": "1", "x-ratelimit-reset-requests": "6m0s" }, undefined],
    [
      "the latest of two",
      {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "20ms",
        "x-ratelimit-remaining-tokens": "0",
        "x-ratelimit-reset-tokens": "1.5s",
      },
      1500,
    ],
    [
      "a time of day",
      {
        "anthropic-ratelimit-tokens-remaining": "0",
        "anthropic-ratelimit-tokens-reset": new Date(NOW + 7000).toISOString(),
      },
      7000,
    ],
    ["Unix milliseconds", { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(NOW + 9000) }, 9000],
    ["Unix seconds", { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(NOW / 1000 + 9) }, 9000],
    [
      "R216 a date by a clock that is hours before ours",
      { "retry-after": "Mon, 30 Nov 2026 08:01:30 GMT", date: "Mon, 30 Nov 2026 08:00:00 GMT" },
      90_000,
    ],
    [
      "R216 a reset time by a clock that is after ours",
      {
        date: "Mon, 30 Nov 2026 14:00:00 GMT",
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": String(NOW / 1000 + 7200 + 9),
      },
      9000,
    ],
    ["R216 a date beside a clock that is none", { "retry-after": "Mon, 30 Nov 2026 12:00:30 GMT", date: "x" }, 30_000],
    ["R306 no figure", { "retry-after": "Infinity" }, undefined],
    ["R306 a figure that is none", { "retry-after": "1e999" }, undefined],
    ["R306 a figure beyond any date", { "retry-after": "1e300" }, YEAR],
    ["R306 milliseconds beyond any date", { "retry-after-ms": "1e300" }, YEAR],
    ["R306 days beyond any date", { "retry-after": `${"9".repeat(40)}d` }, YEAR],
    ["R306 a long value", { "retry-after": "9".repeat(10_000) }, undefined],
  ])("R037 %s", (_title, headers, expected) => {
    expect(retryAfterOf(headers, NOW)).toBe(expected);
  });
});

describe("retryAfterInText", () => {
  it.each<[string, number | undefined]>([
    ["Please try again in 7m12.5s.", 432_500],
    ["Please try again in 20ms", 20],
    ["Please retry in 17.391s.", 17_391],
    ["Please retry after 6 seconds.", 6000],
    ["try again in 3 minutes", 180_000],
    ["Please try again later", undefined],
    ["Please adjust your input and try again.", undefined],
    ["reset in 1 day", 86_400_000],
  ])("R037 %s", (text, expected) => {
    expect(retryAfterInText(text)).toBe(expected);
  });
});

describe("durationMs", () => {
  it("refuses what is not a duration", () => {
    for (const text of ["", "17", "s", "1x", "-1s"]) expect(durationMs(text)).toBeUndefined();
    expect(durationMs("1h2m3.5s")).toBe(3_723_500);
  });
});
