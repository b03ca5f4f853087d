import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readErrorBody } from "./error-body.ts";
import { retryAfterOf } from "./retry-after.ts";
import { ERROR_RULES, type ErrorFacts, type ErrorRule, verdictOf } from "./rules.ts";

interface Case {
  status?: number;
  headers?: Record<string, string>;
  body: unknown;
  provider?: string;
  inStream?: boolean;
}

const folder = new URL("./__fixtures__/", import.meta.url);
const facts = readdirSync(folder)
  .flatMap((file) => JSON.parse(readFileSync(new URL(file, folder), "utf8")) as Case[])
  .map(({ status, headers = {}, body, provider = "vendor", inStream }): ErrorFacts => {
    const read = readErrorBody(body);
    const type = headers["x-amzn-errortype"];
    return {
      status: (inStream ? read.status : status) ?? 200,
      codes: type ? [...read.codes, type] : read.codes,
      text: read.message,
      retryAfterMs: retryAfterOf(headers),
      vendor: provider,
    };
  });

/** Whether some body is judged otherwise by other rules. */
const matters = (rules: readonly ErrorRule[]) =>
  facts.some((one) => {
    const [now, then] = [verdictOf(one), verdictOf(one, rules)];
    return now.kind !== then.kind || now.code !== then.code;
  });

describe("the table of errors", () => {
  it.each(ERROR_RULES.map((rule, at): [string, number, ErrorRule] => [rule.why, at, rule]))(
    "R332 a body needs the rule: %s",
    (_why, at) => {
      expect(matters(ERROR_RULES.toSpliced(at, 1))).toBe(true);
    },
  );

  const statuses = ERROR_RULES.flatMap((rule, at) =>
    Array.isArray(rule.status) ? rule.status.map((status: number) => ({ status, at, rule })) : [],
  );
  it.each(statuses)("R332 a body needs the status $status of: $rule.why", ({ status, at, rule }) => {
    const others = (rule.status as readonly number[]).filter((other) => other !== status);
    expect(matters(ERROR_RULES.with(at, { ...rule, status: others }))).toBe(true);
  });

  it("R332 a body needs each condition of each rule", () => {
    const unneeded = ERROR_RULES.flatMap((rule, at) =>
      (["status", "code", "text", "vendor", "silent", "waitAboveMs"] as const)
        .filter((condition) => {
          const { [condition]: left, ...rest } = rule;
          return left !== undefined && Object.keys(rest).length > 2 && !matters(ERROR_RULES.with(at, rest));
        })
        .map((condition) => `${condition} of: ${rule.why}`),
    );
    expect(unneeded).toEqual([]);
  });
});
