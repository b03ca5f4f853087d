import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readLines } from "./line-reader.ts";

async function linesOf(chunks: (Uint8Array | string)[], max?: number) {
  const source = (async function* () {
    yield* chunks;
  })();
  const lines: (string | undefined)[] = [];
  for await (const line of readLines(source, max)) lines.push(line);
  return lines;
}

/** Cuts bytes into pieces of the given sizes, over and over. */
function cut(bytes: Buffer, sizes: number[]): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0, index = 0; at < bytes.length; index++) {
    const size = sizes[index % sizes.length] ?? 1;
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

describe("readLines", () => {
  it("R174 splits at LF alone, wherever the bytes are cut", async () => {
    const line = fc
      .string({ unit: "grapheme" })
      .map((text) => `x${text}\u2028\u2029\u0085\v\f\0\r é😀`.replaceAll("\n", ""));
    const sizes = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(fc.array(line), sizes, fc.constantFrom("\n", "\r\n"), async (lines, cuts, end) => {
        const bytes = Buffer.from(lines.map((each) => each + end).join(""));
        expect(await linesOf(cut(bytes, cuts))).toEqual(lines);
      }),
    );
  });

  it("takes what stands behind the last LF, and a byte order mark for nothing", async () => {
    expect(await linesOf(["\uFEFF{}\n", "a"])).toEqual(["{}", "a"]);
    expect(await linesOf([])).toEqual([]);
  });

  it("drops a line that is too long, and continues with the next", async () => {
    expect(await linesOf(["1234", "5678", "9\nab", "c\n", "123456"], 5)).toEqual([undefined, "abc", undefined]);
  });
});
