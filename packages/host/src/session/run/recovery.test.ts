import type { AssistantMessage, ErrorKind } from "@tau/llm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DEFAULT_RETRY, decideRecovery, NOTHING_TRIED, type RecoveryMeans, type Tried } from "./recovery.ts";

const MEANS: RecoveryMeans = {
  retry: DEFAULT_RETRY,
  canCompact: true,
  hasFallback: false,
  hasImages: false,
  contextWindow: 10_000,
  random: () => 1,
  now: () => Date.UTC(2024, 0, 1),
};

function reply(fields: Partial<AssistantMessage>): AssistantMessage {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost };
  const content = [{ type: "text" as const, text: "done" }];
  return {
    role: "assistant",
    content,
    api: "a",
    provider: "p",
    model: "m",
    usage,
    stopReason: "stop",
    timestamp: 0,
    ...fields,
  };
}
const failed = (errorKind: ErrorKind, errorMessage = "it broke", retryAfterMs?: number) =>
  reply({
    content: [],
    stopReason: "error",
    errorKind,
    errorMessage,
    ...(retryAfterMs !== undefined && { errorDetails: { retryAfterMs } }),
  });
const decide = (message: AssistantMessage, tried: Partial<Tried> = {}, means: Partial<RecoveryMeans> = {}) =>
  decideRecovery(message, { ...NOTHING_TRIED, ...tried }, { ...MEANS, ...means });

describe("what follows a reply", () => {
  it("E2 a transient failure is retried three times, each wait twice as long at most, capped", () => {
    const delays = [0, 1, 2].map((retries) => decide(failed("retryable"), { retries }));
    expect(delays).toMatchObject([{ delayMs: 2000 }, { delayMs: 4000 }, { delayMs: 8000 }]);
    expect(delays).toMatchObject([1, 2, 3].map((attempt) => ({ attempt, maxAttempts: 3 })));
    expect(decide(failed("retryable"), { retries: 3 }).type).toBe("fail");
    const many = { ...DEFAULT_RETRY, maxRetries: 20 };
    expect(decide(failed("retryable"), { retries: 10 }, { retry: many })).toMatchObject({ delayMs: 60_000 });
    expect(decide(failed("retryable"), {}, { retry: { ...DEFAULT_RETRY, enabled: false } }).type).toBe("fail");
  });

  it("E2 the jitter is full: from nothing to the whole wait, never below what the server asked for", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), fc.integer({ min: 0, max: 60_000 }), (random, asked) => {
        const action = decide(failed("retryable", "busy", asked), { retries: 1 }, { random: () => random });
        const delayMs = action.type === "retry" ? action.delayMs : -1;
        expect(delayMs).toBe(Math.max(asked, Math.round(random * 4000)));
      }),
    );
  });

  it("R037 a wait of days is not a wait: the error says until when", () => {
    const days = 1_382_400_000;
    const action = decide(failed("retryable", "Monthly limit reached", days));
    expect(action).toEqual({
      type: "fail",
      failure: {
        code: "wait_too_long",
        params: { text: "Monthly limit reached", waitMs: days, until: Date.UTC(2024, 0, 17) },
        errorKind: "retryable",
      },
    });
    expect(decide(failed("retryable", "busy", 2000), {}, { random: () => 0 })).toMatchObject({ delayMs: 2000 });
    expect(decide(failed("retryable", "busy", 301_000), {}, { hasFallback: true }).type).toBe("fallback");
  });

  it.each([61_000, 90_000, 300_000])("R216 a wait of %d ms that the server asks for is waited", (asked) => {
    const action = decide(failed("retryable", "busy", asked), {}, { hasFallback: true });
    expect(action).toMatchObject({ type: "retry", delayMs: asked });
    const short = { ...DEFAULT_RETRY, maxServerDelayMs: asked - 1 };
    expect(decide(failed("retryable", "busy", asked), {}, { retry: short }).type).toBe("fail");
  });

  it("R038 quota and billing are not retried", () => {
    const failure = { code: "provider_error", params: { text: "no credit" }, errorKind: "quota" };
    expect(decide(failed("quota", "no credit"))).toEqual({ type: "fail", failure });
    for (const kind of ["auth", "invalid_request", "content_filter", "unknown"] as const) {
      expect(decide(failed(kind)).type).toBe("fail");
    }
  });

  it("E3 what cannot be fixed here goes to a fallback model, an abort never", () => {
    for (const kind of ["quota", "auth", "invalid_request", "content_filter", "unknown"] as const) {
      expect(decide(failed(kind), {}, { hasFallback: true })).toEqual({
        type: "fallback",
        failure: { code: "provider_error", params: { text: "it broke" }, errorKind: kind },
      });
    }
    expect(decide(failed("retryable"), { retries: 3 }, { hasFallback: true }).type).toBe("fallback");
    expect(decide(reply({ stopReason: "aborted" }), {}, { hasFallback: true }).type).toBe("accept");
  });

  it("E4 an overflow is compacted once, then it is a failure", () => {
    expect(decide(failed("overflow"))).toMatchObject({ type: "compact", tried: { compacted: true } });
    expect(decide(failed("overflow"), { compacted: true }).type).toBe("fail");
    expect(decide(failed("overflow"), { compacted: true }, { hasFallback: true }).type).toBe("fallback");
    expect(decide(failed("overflow"), {}, { canCompact: false }).type).toBe("fail");
  });

  it("R116 a cut answer without output is an overflow when the prompt took the window", () => {
    const usage = { ...reply({}).usage, input: 9900, output: 0 };
    expect(decide(reply({ content: [], stopReason: "length", usage })).type).toBe("compact");
  });

  it("R010 an answer that is still empty after the loop asked again is a failure", () => {
    const nothing = reply({ content: [{ type: "text", text: " \n" }] });
    expect(decide(nothing).type).toBe("fail");
    expect(decide(nothing, {}, { hasFallback: true }).type).toBe("fallback");
    expect(decide(reply({})).type).toBe("accept");
  });

  it("R036 a malformed call is asked for again twice with a hint, then the failure shows", () => {
    const details = { errorDetails: { code: "MALFORMED_FUNCTION_CALL" } };
    const malformed = { ...failed("retryable", "malformed"), ...details };
    expect(decide(malformed)).toMatchObject({ type: "resample", attempt: 1 });
    expect(decide(malformed, { hints: 1 })).toMatchObject({ type: "resample", attempt: 2 });
    expect(decide(malformed, { hints: 2 })).toMatchObject({ type: "fail", failure: { params: { text: "malformed" } } });
  });

  it.each(["malformed_tool_call", "MALFORMED_FUNCTION_CALL", "unexpected_tool_call"])(
    "R208 R213 a call that cannot be read is known by the code %s alone, whatever the kind and the words",
    (code) => {
      for (const kind of ["retryable", "invalid_request", "unknown"] as const) {
        const refused = { ...failed(kind, "no words that say so"), errorDetails: { code, status: 400 } };
        expect(decide(refused)).toMatchObject({ type: "resample", attempt: 1 });
        expect(decide(refused, { hints: 2 }).type).toBe("fail");
      }
      expect(decide(failed("invalid_request", `tool_use_failed ${code}`)).type).toBe("fail");
    },
  );

  it("R215 a server that loads its model is waited for, minutes in all, and not counted as a failure", () => {
    const loading = { ...failed("retryable", "Loading model"), errorDetails: { code: "model_loading", status: 503 } };
    let tried: Tried = NOTHING_TRIED;
    const waits: number[] = [];
    for (let action = decide(loading); action.type === "retry"; action = decide(loading, tried)) {
      waits.push(action.delayMs);
      tried = action.tried;
    }
    const total = waits.reduce((sum, wait) => sum + wait, 0);
    expect(waits.slice(0, 4)).toEqual([2000, 4000, 5000, 5000]);
    expect(total).toBeGreaterThan(240_000);
    expect(tried.retries).toBe(0);
    expect(decide(failed("retryable"), tried)).toMatchObject({ type: "retry", attempt: 1 });
    const off = { retry: { ...DEFAULT_RETRY, enabled: false } };
    expect(decide(loading, {}, off).type).toBe("fail");
    const asks = { ...loading, errorDetails: { ...loading.errorDetails, retryAfterMs: 9000 } };
    expect(decide(asks)).toMatchObject({ delayMs: 9000 });
    const hours = { ...loading, errorDetails: { ...loading.errorDetails, retryAfterMs: 9_000_000 } };
    expect(decide(hours)).toMatchObject({ type: "fail", failure: { code: "wait_too_long" } });
  });

  it("R056 a refused image is taken out once", () => {
    const refused = failed("invalid_request", "Could not process image");
    expect(decide(refused, {}, { hasImages: true }).type).toBe("drop_images");
    expect(decide(refused, { imagesDropped: true }, { hasImages: true }).type).toBe("fail");
    expect(decide(refused).type).toBe("fail");
    expect(decide(failed("retryable", "image service busy"), {}, { hasImages: true }).type).toBe("retry");
  });

  it("E2 no course of failures is endless", () => {
    const kinds = fc.constantFrom<ErrorKind>("retryable", "overflow", "invalid_request", "unknown");
    fc.assert(
      fc.property(fc.array(kinds, { minLength: 30, maxLength: 30 }), (list) => {
        let tried: Tried = NOTHING_TRIED;
        let steps = 0;
        for (const kind of list) {
          const action = decide(failed(kind, "bad image"), tried, { hasImages: true });
          if (!("tried" in action)) break;
          tried = action.tried;
          steps++;
        }
        expect(steps).toBeLessThanOrEqual(3 + 1 + 1);
      }),
    );
  });
});
