import { describe, expect, it } from "vitest";
import { growingSecretMask, secretMask } from "./secret-mask.ts";

describe("own secrets in tool output", () => {
  it("R143 known keys are masked wherever they occur, and nothing else is touched", () => {
    const mask = secretMask(["sk-test-1234567890", "sk-test-1234567890-long", "a.b*c(d)+[e]", "short"]);
    const result = {
      content: [
        { type: "text", text: "KEY=sk-test-1234567890\nB=sk-test-1234567890-long short a.b*c(d)+[e] aXb" },
        { type: "image", data: "sk-test-1234567890", mimeType: "image/png" },
      ],
      details: { output: { lines: ["x sk-test-1234567890"] }, count: 3, none: null },
    };
    expect(mask(result)).toEqual({
      content: [{ type: "text", text: "KEY=[secret]\nB=[secret] short [secret] aXb" }, result.content[1]],
      details: { output: { lines: ["x [secret]"] }, count: 3, none: null },
    });
    const clean = { content: [{ type: "text", text: "nothing" }], details: { a: [1] } };
    expect(mask(clean)).toBe(clean);
    expect(secretMask([])(result)).toBe(result);
    expect(secretMask(["", "short"])(result)).toBe(result);
    const placeholders = ["lm-studio", "not-needed", "no_key_required", "sk-no-key-required", "Dummy Key"];
    const text = `served by ${placeholders.join(", ")}`;
    expect(secretMask(placeholders)(text)).toBe(text);
    expect(secretMask(["local-key-7f3a"])("local-key-7f3a")).toBe("[secret]");
  });
});

it("R143 keys that become known later are masked from then on", () => {
  const known: string[] = [];
  const mask = growingSecretMask(() => [...known]);
  expect(mask("a key-of-now b")).toBe("a key-of-now b");
  known.push("key-of-now");
  expect(mask("a key-of-now b")).toBe("a [secret] b");
  known[0] = "another-key";
  expect(mask("key-of-now another-key")).toBe("key-of-now [secret]");
});

it.each(["development", "production", "Localhost", "STAGING", "test-environment", "change-me", "your_api_key_here"])(
  "R244 the ordinary words %s are not masked",
  (word) => {
    expect(secretMask([word])(`in ${word} mode`)).toBe(`in ${word} mode`);
  },
);

it.each(["sk-abcdefgh", "abcdefghijklmnopqrstuvwx", "Tr0ub4dor", "correct-horse-battery", "hunter22"])(
  "R244 the key %s is masked",
  (key) => {
    expect(secretMask([key])(`in ${key} mode`)).toBe("in [secret] mode");
  },
);
