import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readArguments } from "./arguments.ts";

describe("readArguments", () => {
  it.each(["", " ", "\n\t", "null", " null "])("R025 no arguments: %j means {}", (text) => {
    expect(readArguments(text)).toEqual({ arguments: {} });
  });

  it("R024 decodes an object that was encoded twice, once", () => {
    expect(readArguments('"{\\"path\\": \\"a.txt\\"}"')).toEqual({ arguments: { path: "a.txt" } });
    expect(readArguments('" {}"')).toEqual({ arguments: {} });
    const thrice = JSON.stringify(JSON.stringify(JSON.stringify({ a: 1 })));
    expect(readArguments(thrice).invalidArguments?.raw).toBe(thrice);
  });

  it.each([
    "[]",
    '"str"',
    "5",
    "true",
    '{"path":"a.txt"',
    '{"path":"a.txt"} and more',
    '{"path":"a.txt"}{"path":"b.txt"}',
    "{'path': 'a'}",
    "{path: 1}",
    '"{\\"cut\\": "',
  ])("C7 R024 keeps %s as invalid, with the reason", (text) => {
    const { arguments: args, invalidArguments } = readArguments(text);
    expect(args).toEqual({});
    expect(invalidArguments?.raw).toBe(text);
    expect(invalidArguments?.error).toMatch(/\w{3}/);
  });

  it.each(["\u0000", "\n", "\u001f"])("R039 a raw control character %j is not JSON: nothing is guessed", (char) => {
    expect(readArguments(`{"command":"a${char}b"}`).invalidArguments).toBeDefined();
  });

  it("C7 keeps at most 4 kB of a bad text, cut between characters", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }), (part) => {
        const text = `[${part.repeat(6000)}`;
        const raw = readArguments(text).invalidArguments?.raw ?? "";
        expect(Buffer.byteLength(raw)).toBeLessThanOrEqual(4096);
        expect(Buffer.byteLength(raw)).toBeGreaterThan(4090);
        expect(text.startsWith(raw)).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  it("refuses a nesting that could not be sent back", () => {
    const text = `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    expect(readArguments(text).invalidArguments?.error).toContain("nested");
  });
});
