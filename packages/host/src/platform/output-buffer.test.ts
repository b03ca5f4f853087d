import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { OutputBuffer } from "./output-buffer.ts";

const MB = 1024 * 1024;
let directory = "";

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tau-output-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Bytes that differ at every place. */
function pattern(length: number): Buffer {
  return Buffer.from(Uint32Array.from({ length: Math.ceil(length / 4) }, (_, i) => i).buffer).subarray(0, length);
}

describe("OutputBuffer", () => {
  it("R073 keeps head, tail and the file exact for any sizes of chunks, and counts the rest", () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 200_000 }), { maxLength: 8 });
    fc.assert(
      fc.property(sizes, (lengths) => {
        const output = new OutputBuffer({ directory, maxFileBytes: 10 * MB });
        const all = pattern(lengths.reduce((sum, length) => sum + length, 0));
        let at = 0;
        for (const length of lengths) {
          output.write(Buffer.from(all.subarray(at, at + length)));
          at += length;
        }
        const { head, tail, gapBytes } = output.kept();
        expect(output.totalBytes).toBe(all.length);
        expect(head.length + gapBytes + tail.length).toBe(all.length);
        expect(head.equals(all.subarray(0, head.length))).toBe(true);
        expect(tail.equals(all.subarray(all.length - tail.length))).toBe(true);
        expect(output.last(1000).equals(all.subarray(Math.max(0, all.length - 1000)))).toBe(true);
        expect(output.filePath !== undefined).toBe(all.length > 256 * 1024);
        if (output.filePath) expect(readFileSync(output.filePath).equals(all)).toBe(true);
        output.close();
      }),
      { numRuns: 30 },
    );
  });

  it("stops the file at its cap and says so", () => {
    const output = new OutputBuffer({ directory, maxFileBytes: 2 * MB });
    for (let i = 0; i < 40; i++) output.write(pattern(64 * 1024 + 1));
    expect(statSync(output.filePath ?? "").size).toBe(2 * MB);
    expect(output.fileError).toContain(`${2 * MB} bytes`);
    expect(output.totalBytes).toBe(40 * (64 * 1024 + 1));
  });

  it("continues without a file where none can be made", () => {
    writeFileSync(join(directory, "file"), "");
    const output = new OutputBuffer({ directory: join(directory, "file", "below"), maxFileBytes: MB });
    output.write(pattern(MB));
    expect(output.filePath).toBeUndefined();
    expect(output.fileError).toMatch(/ENOTDIR|EEXIST/);
    expect(output.totalBytes).toBe(MB);
  });

  it("writes what comes after the seal to the file alone", () => {
    const output = new OutputBuffer({ directory, maxFileBytes: MB });
    output.write(Buffer.from("before "));
    output.saveToFile();
    output.seal();
    output.write(Buffer.from("after"));
    output.close();
    expect(output.kept().head.toString()).toBe("before ");
    expect(readFileSync(output.filePath ?? "", "utf8")).toBe("before after");
    expect(statSync(output.filePath ?? "").mode & 0o777).toBe(0o600);
  });
});
