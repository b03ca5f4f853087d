import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonReader } from "./json-reader.ts";

/** A text cut into pieces at random places. */
const pieces = (text: string) =>
  fc.array(fc.integer({ min: 0, max: text.length }), { maxLength: 8 }).map((cuts) => {
    const at = [0, ...cuts.sort((a, b) => a - b), text.length];
    return at.slice(1).map((end, index) => text.slice(at[index], end));
  });

function read(text: string): JsonReader {
  const reader = new JsonReader();
  reader.feed(text);
  return reader;
}

const container = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue()));

describe("JsonReader", () => {
  it("S5 gives the value of JSON.parse for every object and array, however it is cut", () => {
    fc.assert(
      fc.property(
        container.chain((value) => {
          const text = JSON.stringify(value, null, fc.sample(fc.nat(2), 1)[0]);
          return fc.tuple(fc.constant(text), pieces(text));
        }),
        ([text, parts]) => {
          const reader = new JsonReader();
          for (const part of parts) reader.feed(part);
          expect(reader.state).toBe("complete");
          expect(reader.value()).toEqual(JSON.parse(text));
        },
      ),
    );
  });

  it("judges every text as JSON.parse does", () => {
    const almostJson = fc
      .array(
        fc.constantFrom(
          "{",
          "}",
          "[",
          "]",
          ",",
          ":",
          '"',
          "\\",
          "a",
          "u00e9",
          "1",
          "-",
          ".5",
          "e3",
          "true",
          "nul",
          " ",
          "\n",
          "\u0001",
        ),
        { maxLength: 12 },
      )
      .map((parts) => `[${parts.join("")}]`);
    fc.assert(
      fc.property(almostJson, (text) => {
        const reader = read(text);
        expect(reader.state === "complete").toBe(isJson(text));
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['{"path": "a.t', { path: "a.t" }],
    ['{"path": "a.txt", "lim', { path: "a.txt" }],
    ['{"path": "a.txt", "limit": 1', { path: "a.txt", limit: 1 }],
    ['{"path": "a.txt", "limit":', { path: "a.txt" }],
    ['{"a": [1, {"b": "c\\', { a: [1, { b: "c" }] }],
    ['{"a": "\\u00e', { a: "" }],
    ['{"a": tru', {}],
    ['{"a": -', {}],
    ['{"__proto__": {"x": 1}, "y": ', Object.defineProperty({}, "__proto__", { value: { x: 1 }, enumerable: true })],
    ["", undefined],
  ])("shows the unfinished %s", (text, value) => {
    expect(read(text).value()).toEqual(value);
  });

  it("S5 a value that was given out does not change later", () => {
    const reader = new JsonReader();
    const text = '{"a": [1, 2, {"b": "long text"}], "c": "d"}';
    const seen: [unknown, string][] = [];
    for (const char of text) {
      reader.feed(char);
      seen.push([reader.value(), JSON.stringify(reader.value())]);
    }
    for (const [value, then] of seen) expect(JSON.stringify(value)).toBe(then);
  });

  it("S5 looks at each character once, also when someone reads the value after each piece", () => {
    const work = (bytes: number) => {
      const reader = new JsonReader();
      const text = JSON.stringify({ path: "x", content: "ab\\n".repeat(bytes / 4) });
      for (let at = 0; at < text.length; at += 4) {
        reader.feed(text.slice(at, at + 4));
        reader.value();
      }
      expect(reader.consumed).toBe(text.length);
      return reader.consumed;
    };
    expect(work(200_000) / work(100_000)).toBeCloseTo(2, 2);
  });

  it("stops where a value is nested deeper than JSON can be written", () => {
    for (const opener of ["[", '{"a":']) {
      const reader = read(opener.repeat(100_000));
      expect(reader.state).toBe("invalid");
      expect(() => JSON.stringify(reader.value())).not.toThrow();
    }
  });

  it("stops at a raw control character", () => {
    const reader = read('{"a": "x\ny"}');
    expect(reader.state).toBe("invalid");
    expect(reader.value()).toEqual({ a: "x" });
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
