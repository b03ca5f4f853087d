import { appendFileSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readLines } from "./read-lines.ts";

let dir: string;
let path: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "tau-lines-"));
  path = join(dir, "lines");
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

it("F1 lines are found whatever the size of a chunk, and one that is too long is passed over", () => {
  const parts = fc.array(fc.string({ unit: fc.constantFrom("a", "é", "\n", "\u2028", "😀"), maxLength: 40 }), {
    maxLength: 8,
  });
  fc.assert(
    fc.property(parts, fc.integer({ min: 1, max: 64 }), (texts, chunkBytes) => {
      const text = texts.join("\n");
      writeFileSync(path, text);
      const fd = openSync(path, "r");
      const found: string[] = [];
      const bytes = readFileSync(path);
      const end = readLines({
        fd,
        chunkBytes,
        onLine(each, { offset, length }) {
          found.push(each);
          expect(bytes.toString("utf8", offset, offset + length)).toBe(each);
        },
        onOversized: () => expect.unreachable(),
      });
      closeSync(fd);
      const expected = text.split("\n");
      if (expected.at(-1) === "") expected.pop();
      expect(found).toEqual(expected);
      expect(end).toEqual({ size: bytes.length, terminated: text === "" || text.endsWith("\n") });
    }),
  );
  writeFileSync(path, `short\n${"x".repeat(1000)}\nafter\n`);
  appendFileSync(path, "y".repeat(500));
  const fd = openSync(path, "r");
  const found: string[] = [];
  let oversized = 0;
  const reader = {
    fd,
    chunkBytes: 16,
    maxLineBytes: 100,
    onLine: (each: string) => void found.push(each),
    onOversized: () => void oversized++,
  };
  expect(readLines(reader).terminated).toBe(false);
  closeSync(fd);
  expect(found).toEqual(["short", "after"]);
  expect(oversized).toBe(2);
});
