import fc from "fast-check";
import { expect, it } from "vitest";
import { filesBench, oneEdit } from "../__fixtures__/files-bench.ts";
import { createEditTool } from "./edit-tool.ts";

/** Bytes of every kind of text: encodings, marks, line ends, and plain garbage. */
const line = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: "grapheme", maxLength: 8 }),
  fc.constantFrom("  indented  ", "\ttab\t", "}", "“q” — é ﬁ Ａ\u00a0", "e\u0301…", ""),
);
const text = fc
  .array(fc.tuple(line, fc.constantFrom("\n", "\r\n", "\n", "\r\n", "\r")), { maxLength: 12 })
  .map((lines) => lines.flat().join(""));

interface Around {
  readonly before: Buffer;
  readonly after: Buffer;
  readonly encode: (text: string) => Buffer;
}

const utf16 = (swap: boolean) => (value: string) => {
  const bytes = Buffer.from(value, "utf16le");
  return swap ? bytes.swap16() : bytes;
};
const utf8 = (value: string) => Buffer.from(value, "utf8");

const around: fc.Arbitrary<Around> = fc.oneof(
  fc.tuple(text, text, fc.constantFrom("", "\ufeff")).map(([before, after, mark]) => {
    return { before: utf8(mark + before), after: utf8(after), encode: utf8 };
  }),
  fc.tuple(text, text, fc.boolean()).map(([before, after, swap]) => {
    const encode = utf16(swap);
    return { before: encode(`\ufeff${before}`), after: encode(after), encode };
  }),
  fc.tuple(fc.uint8Array({ maxLength: 40 }), fc.uint8Array({ maxLength: 40 })).map(([before, after]) => {
    // A letter first: no mark, and the span begins at a character of its own.
    return { before: Buffer.from([0x61, ...before, 0x20]), after: Buffer.from([0x20, ...after]), encode: utf8 };
  }),
  fc.tuple(text, text).map(([before, after]) => {
    const encode = (value: string) => Buffer.from(value, "latin1");
    return { before: encode(before), after: encode(`é${after}`), encode };
  }),
);

/** Nothing else in the files looks like this. */
const MARKED = "<<the span>>";

it("R049 whatever the bytes of a file, an edit changes those of its span and no other", async () => {
  const bench = filesBench();
  await fc.assert(
    fc.asyncProperty(around, fc.stringMatching(/^[a-z ]{0,10}$/), async ({ before, after, encode }, newText) => {
      bench.put("f", Buffer.concat([before, encode(MARKED), after]));
      const old = bench.bytes("f");
      const run = await bench.run(createEditTool, oneEdit("f", MARKED, newText));
      if (run.isError) expect(bench.bytes("f")).toEqual(old);
      expect(run.isError, run.text).toBe(false);
      expect(bench.bytes("f")).toEqual(Buffer.concat([before, encode(newText), after]));
    }),
    { numRuns: 150 },
  );
});

it("R044 a span of several lines is found by its LF form, in any line ends, and the rest stays", async () => {
  const bench = filesBench();
  const ends = fc.array(fc.constantFrom("\n", "\r\n"), { minLength: 2, maxLength: 2 });
  await fc.assert(
    fc.asyncProperty(text, text, ends, async (before, after, [first = "\n", second = "\n"]) => {
      const span = `<<one${first}two${second}three>>`;
      bench.put("f", `${before}${span}${after}`);
      const run = await bench.run(createEditTool, oneEdit("f", "<<one\ntwo\nthree>>", "<<1\n2>>"));
      expect(run.isError, run.text).toBe(false);
      const result = bench.text("f");
      expect(result.startsWith(before)).toBe(true);
      expect(result.endsWith(after)).toBe(true);
      expect(result.slice(before.length, result.length - after.length)).toMatch(/^<<1\r?\n2>>$/);
    }),
    { numRuns: 100 },
  );
});

it("R063 a folded match replaces its span only", async () => {
  const bench = filesBench();
  const gap = fc.constantFrom("\u00a0", "\u202f", "\u3000", "\u2009");
  const quote = fc.constantFrom("\u2018", "\u2019", "\u02bc");
  const spaces = fc.constantFrom("", "  ", "\t");
  await fc.assert(
    fc.asyncProperty(text, text, fc.tuple(gap, quote, spaces), async (before, after, [space, mark, tail]) => {
      bench.put("f", `${before}<<it${mark}s${space}old${tail}\nend>>${after}`);
      const run = await bench.run(createEditTool, oneEdit("f", "<<it's old\nend>>", "<<new\nand last>>"));
      expect(run.isError, run.text).toBe(false);
      expect(bench.text("f")).toBe(`${before}<<new\nand last>>${after}`);
    }),
    { numRuns: 100 },
  );
});

it("R051 an edit that cannot be done changes nothing", async () => {
  const bench = filesBench();
  await fc.assert(
    fc.asyncProperty(around, line, async ({ before, after }, oldText) => {
      bench.put("f", Buffer.concat([before, after]));
      const old = bench.bytes("f");
      const run = await bench.run(createEditTool, {
        path: "f",
        edits: [
          { oldText, newText: "changed" },
          { oldText: MARKED, newText: "never" },
        ],
      });
      expect(run.isError).toBe(true);
      expect(bench.bytes("f")).toEqual(old);
    }),
    { numRuns: 100 },
  );
});
