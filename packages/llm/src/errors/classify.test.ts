import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { ErrorKind } from "../protocol/errors.ts";
import { StreamError, type StreamErrorReason } from "../stream/stream-error.ts";
import { classifyEvent, classifyResponse, classifyThrown } from "./classify.ts";

interface Case {
  why?: string;
  status?: number;
  headers?: Record<string, string>;
  body: unknown;
  kind: ErrorKind;
  retryAfterMs?: number;
  /** Unix time in milliseconds at which the answer came. */
  now?: number;
  /** An error object inside a 200 stream. */
  inStream?: boolean;
  /** The provider, where it matters. */
  provider?: string;
  /** Nothing but the code says it. */
  codeOnly?: boolean;
  /** The code that the failure has. */
  code?: string;
  /** What must not be shown. */
  hidden?: string;
}

const folder = new URL("./__fixtures__/", import.meta.url);
const cases = readdirSync(folder).flatMap((file) =>
  (JSON.parse(readFileSync(new URL(file, folder), "utf8")) as Case[]).map((one): [string, Case] => [
    `${one.why ?? file.replace(".json", "")} ${one.inStream ? "in a stream" : one.status}: ${JSON.stringify(one.body).slice(0, 110)}`,
    one,
  ]),
);

const ORIGIN = { provider: "vendor" };

function classify({ status = 200, headers = {}, body, inStream, now, provider = "vendor" }: Case) {
  if (inStream) return classifyEvent(body, { provider });
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return classifyResponse({ status, headers, body: text }, { provider }, now);
}

describe("the error bodies of the vendors", () => {
  it.each(cases)("E7 %s", (_title, one) => {
    const failure = classify(one);
    expect([failure.kind, failure.message]).toEqual([one.kind, expect.any(String)]);
    if (!one.inStream) expect(failure.details?.status).toBe(one.status);
    if (one.retryAfterMs !== undefined) expect(failure.details?.retryAfterMs).toBe(one.retryAfterMs);
    expect(failure.message).toMatch(/^[^\n\r]{3,900}$/);
    expect(failure.message).not.toMatch(/<html|<!doctype/i);
    if (one.code !== undefined) expect(failure.details?.code).toBe(one.code);
    if (one.hidden) expect(failure.message).not.toContain(one.hidden);
  });

  const ofKind = (kind: ErrorKind) => cases.filter(([, one]) => one.kind === kind);
  it("R120 R214 every text that says the prompt is too long is an overflow, under any status that carries texts", () => {
    for (const [title, one] of ofKind("overflow")) {
      if (one.status === 413 || one.body === "") continue;
      for (const status of [400, 422, 500, 503]) {
        expect([title, classify({ ...one, status, inStream: false }).kind]).toEqual([title, "overflow"]);
      }
    }
  });

  it("R116 an overflow is one by whichever way it comes: status, error event, plain text, 413 without a text", () => {
    for (const [title, one] of ofKind("overflow")) {
      if (one.status === 413 || one.body === "") continue;
      expect([title, classifyEvent(one.body, ORIGIN).kind]).toEqual([title, "overflow"]);
      if (one.codeOnly) continue;
      const { message } = classifyEvent(one.body, ORIGIN);
      expect([title, classifyResponse({ status: 400, headers: {}, body: message }, ORIGIN).kind]).toEqual([
        title,
        "overflow",
      ]);
    }
    expect(classifyResponse({ status: 413, headers: {}, body: "" }, ORIGIN).kind).toBe("overflow");
  });

  it("R120 limits on the rate of tokens are not an overflow", () => {
    const texts = [
      "Rate limit reached for gpt-4 in organization org-1 on tokens per min (TPM): Limit 10000, Used 9000, Requested 2000",
      "Number of request tokens has exceeded your per-minute rate limit",
      "This request would exceed your organization's rate limit of 40,000 input tokens per minute",
      "Too many tokens, please wait before trying again.",
      "Quota exceeded: input tokens per day",
      "Rate limit: the prompt tokens of your requests exceed the limit of 40000 tokens per minute",
      "Your input token count exceeds the maximum of 250000 tokens per minute (TPM)",
    ];
    for (const text of texts) {
      const failure = classifyResponse({ status: 429, headers: {}, body: JSON.stringify({ error: text }) }, ORIGIN);
      expect([text, failure.kind]).toEqual([text, "retryable"]);
      expect([text, classifyEvent({ error: { message: text } }, ORIGIN).kind]).toEqual([text, "retryable"]);
    }
  });

  it("R038 what cannot be paid is not retried", () => {
    expect(ofKind("quota").length).toBeGreaterThan(15);
    for (const status of [400, 402, 403, 429]) {
      const body = JSON.stringify({ error: { message: "Your billing account is disabled", type: "billing_error" } });
      expect(classifyResponse({ status, headers: {}, body }, ORIGIN).kind).toBe("quota");
    }
    expect(classifyResponse({ status: 402, headers: {}, body: "" }, ORIGIN).kind).toBe("quota");
  });
});

describe("messages", () => {
  it("R028 an HTML page is reduced to status and title", () => {
    const page = `<!DOCTYPE html>\n<html><head><title>Access &amp; denied\n page</title></head><body>${"<p>x</p>".repeat(5000)}</body></html>`;
    const failure = classifyResponse({ status: 400, headers: { "content-type": "text/html" }, body: page }, ORIGIN);
    expect(failure.message).toBe("Access & denied page (HTTP 400)");
    const untitled = classifyResponse({ status: 502, headers: {}, body: "<html><body>x</body></html>" }, ORIGIN);
    expect(untitled.message).toBe("an HTML page instead of an answer (HTTP 502)");
  });

  it("E1 masks the key, also one that the server echoes in part of a text, and keeps to one capped line", () => {
    const secret = "my-very-secret-key";
    const body = JSON.stringify({
      error: { message: `bad key ${secret}\nBearer abc.def sk-ant-REDACTED ${"y".repeat(2000)}` },
    });
    const { message } = classifyResponse(
      { status: 400, headers: {}, body },
      { ...ORIGIN, secrets: [secret, undefined] },
    );
    expect(message).not.toContain(secret);
    expect(message).not.toContain("abc.def");
    expect(message).not.toContain("sk-ant");
    expect(message).not.toContain("\n");
    expect(message.length).toBeLessThan(700);
  });

  it("R143 masks the key in codes, which are kept with the message", () => {
    const secret = "my-very-secret-key";
    const body = { error: { code: secret, type: `bad ${secret}`, message: "" } };
    const origin = { ...ORIGIN, secrets: [secret] };
    expect(
      JSON.stringify(classifyResponse({ status: 400, headers: {}, body: JSON.stringify(body) }, origin)),
    ).not.toContain(secret);
    expect(JSON.stringify(classifyEvent(body, origin))).not.toContain(secret);
    expect(classifyEvent({ error: { code: "x".repeat(9000) } }, origin).details?.code).toHaveLength(100);
  });

  it("E1 an empty body still names provider and status; auth failures say what to check", () => {
    expect(classifyResponse({ status: 500, headers: {}, body: "" }, ORIGIN).message).toBe("vendor answered HTTP 500");
    const auth = classifyResponse({ status: 401, headers: {}, body: '{"detail":"Unauthorized"}' }, ORIGIN);
    expect(auth.message).toBe('Unauthorized (HTTP 401); check the API key for "vendor"');
    const named = classifyResponse({ status: 401, headers: {}, body: '{"error":"Incorrect API key"}' }, ORIGIN);
    expect(named.message).toBe('Incorrect API key (HTTP 401); check the API key for "vendor"');
    const missing = classifyResponse({ status: 404, headers: {}, body: '{"error":"no model x"}' }, ORIGIN);
    expect(missing.message).toBe(`no model x (HTTP 404); check the model's id and the baseUrl of "vendor"`);
  });

  it("R037 a long wait is reported", () => {
    const headers = { "retry-after": "1382400" };
    const failure = classifyResponse({ status: 429, headers, body: '{"error":"monthly limit"}' }, ORIGIN);
    expect(failure.message).toBe("monthly limit (HTTP 429)");
    expect(failure.details?.retryAfterMs).toBe(1_382_400_000);
  });
});

describe("classifyThrown", () => {
  it.each<[StreamErrorReason, ErrorKind]>([
    ["bad_frame", "retryable"],
    ["early_end", "retryable"],
    ["connection", "retryable"],
    ["connect_timeout", "retryable"],
    ["first_byte_timeout", "retryable"],
    ["idle_timeout", "retryable"],
    ["redirect", "invalid_request"],
    ["bad_request", "invalid_request"],
    ["proxy", "invalid_request"],
    ["certificate", "invalid_request"],
    ["aborted", "aborted"],
  ])("E1 %s is %s", (reason, kind) => {
    expect(classifyThrown(new StreamError(reason, "text"), ORIGIN)).toMatchObject({ kind, message: "text" });
  });

  it("E1 anything else is unknown", () => {
    expect(classifyThrown(new TypeError("x is not a function"), ORIGIN)).toEqual({
      kind: "unknown",
      message: "x is not a function",
    });
    expect(classifyThrown("text", ORIGIN).kind).toBe("unknown");
  });
});
