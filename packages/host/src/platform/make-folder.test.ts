import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeFolder } from "./make-folder.ts";

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "tau-folder-"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

describe("makeFolder", () => {
  it("makes a folder with those above it, and is content when it is there", () => {
    const path = join(base, "a", "b", "c");
    makeFolder(path, 0o700);
    makeFolder(path, 0o700);
    expect(["a", "a/b", "a/b/c"].map((name) => statSync(join(base, name)).mode & 0o777)).toEqual([0o700, 0o700, 0o700]);
    makeFolder(base);
  });

  it("says that a file is in the way", () => {
    writeFileSync(join(base, "file"), "");
    expect(() => makeFolder(join(base, "file"))).toThrow("EEXIST");
    expect(() => makeFolder(join(base, "file", "a", "b"))).toThrow("ENOTDIR");
  });

  it("comes back where no folder can be made", ({ skip }) => {
    skip(!existsSync("/proc/self"), "there is no /proc here");
    expect(() => makeFolder("/proc/tau/a")).toThrow("ENOENT");
  });
});
