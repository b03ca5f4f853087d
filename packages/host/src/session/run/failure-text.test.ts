import { describe, expect, it } from "vitest";
import type { LimitHit, RunFailure } from "./failure.ts";
import { failureText, limitText } from "./failure-text.ts";

describe("the words of failures", () => {
  it.each<[RunFailure, string]>([
    [{ code: "provider_error", params: { text: "it broke" } }, "it broke"],
    [{ code: "provider_error", params: {} }, "The provider gave no reason."],
    [{ code: "provider_error", params: { text: "" } }, "The provider gave no reason."],
    [{ code: "retries_used_up", params: { text: "busy", retries: 1 } }, "busy (after 1 retry)"],
    [{ code: "retries_used_up", params: { text: "busy", retries: 3 } }, "busy (after 3 retries)"],
    [
      { code: "wait_too_long", params: { text: "Monthly limit", waitMs: 1_382_400_000, until: Date.UTC(2024, 0, 17) } },
      "Monthly limit (the server asks to wait until 2024-01-17T00:00:00.000Z, in 16 days)",
    ],
    [
      { code: "wait_too_long", params: { text: "busy", waitMs: 400_000, until: Date.UTC(2024, 0, 17) } },
      "busy (the server asks to wait until 2024-01-17T00:00:00.000Z, in 7 min)",
    ],
    [
      { code: "empty_answer", params: { model: "m" } },
      "The model m gave an empty answer again. Rephrase the request or choose another model.",
    ],
    [
      { code: "context_full", params: { text: "too long", compaction: "failed", reason: "no credit" } },
      "too long (compaction failed: no credit). Start a new session, or choose a model with a larger context window.",
    ],
    [
      { code: "context_full", params: { compaction: "nothing" } },
      "The context is full (there is nothing to compact). Start a new session, or choose a model with a larger context window.",
    ],
    [
      { code: "no_data", params: { problem: "name: missing", tries: 3 } },
      "The model gave no answer that fits the schema in 3 tries: name: missing. Make the schema simpler, or choose another model.",
    ],
    [{ code: "unforeseen", params: { text: "a hook threw" } }, "a hook threw"],
  ])("R273 %j", (failure, text) => {
    expect(failureText(failure)).toBe(text);
  });

  it.each<[LimitHit, RegExp[]]>([
    [{ limit: "maxTurns", params: { most: 3 } }, [/limit of 3 turns is reached/, /--max-turns, limits\.maxTurns/]],
    [{ limit: "maxTurns", params: { most: 1 } }, [/limit of 1 turn is reached/]],
    [{ limit: "maxCost", params: { most: 1e-8 } }, [/\$0\.00000001/, /limits\.maxCost/]],
    [{ limit: "maxTokens", params: { most: 200 } }, [/200 tokens/, /budget\.maxTokens/]],
    [{ limit: "timeout", params: { most: 5000 } }, [/5 s/, /limits\.maxSeconds/]],
    [{ limit: "maxConsecutiveLengthStops", params: { most: 3 } }, [/3 replies/, /limits\.maxConsecutiveLengthStops/]],
    [
      { limit: "maxIdenticalCalls", params: { most: 20, call: 'grep {"pattern":"x"}' } },
      [/the call grep \{"pattern":"x"\} gave the same result 20 times/, /limits\.maxIdenticalCalls/],
    ],
    [
      { limit: "maxCallsPerMessage", params: { most: 4, calls: 9 } },
      [/9 tool calls/, /4 are allowed/, /limits\.maxCallsPerMessage/],
    ],
  ])("R273 a limit says what was reached and which setting raises it: %j", (hit, words) => {
    for (const word of words) expect(limitText(hit)).toMatch(word);
  });
});
