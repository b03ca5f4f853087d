import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeJson } from "./json.ts";

const text = fc.string({
  unit: fc.constantFrom("\ud800", "\udc00", "\ud83d\ude00", "\\", "u", "d", "8", "0", '"', "\u0000", "é"),
});

describe("encodeJson", () => {
  it("R039 writes well-formed text only, in values and keys, and changes nothing else", () => {
    fc.assert(
      fc.property(fc.dictionary(text, fc.oneof(text, fc.array(text))), (value) => {
        const json = encodeJson(value);
        const back: unknown = JSON.parse(json);
        expect(JSON.stringify(back)).not.toMatch(/(^|[^\\])(\\\\)*\\ud[89ab]/);
        const fixed = Object.entries(value).map(([key, child]) => [key.toWellFormed(), fix(child)]);
        expect(back).toEqual(Object.fromEntries(fixed));
        expect(Buffer.from(json).toString("utf8")).toBe(json);
      }),
    );
  });

  it("is JSON.stringify for everything else", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(encodeJson(value)).toBe(JSON.stringify(value));
      }),
    );
    expect(encodeJson(undefined)).toBe("null");
  });
});

function fix(child: string | string[]): string | string[] {
  return typeof child === "string" ? child.toWellFormed() : child.map((item) => item.toWellFormed());
}
