import { chmodSync, chownSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "./temporary-folder.ts";

let parent = "";
let usual = "";
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "tau-temporary-"));
  usual = join(parent, `tau-${process.getuid?.() ?? "user"}`);
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

const modeOf = (path: string) => lstatSync(path).mode & 0o777;

describe.skipIf(process.platform === "win32")("the folder for long outputs", () => {
  it("R310 is named by the user, closed to others, and the same each time", () => {
    expect(temporaryFolder(parent)).toEqual({ path: usual, warnings: [] });
    expect(modeOf(usual)).toBe(0o700);
    expect(temporaryFolder(parent)).toEqual({ path: usual, warnings: [] });
  });

  it("R310 is closed when it was open to others", () => {
    mkdirSync(usual);
    chmodSync(usual, 0o777);
    expect(temporaryFolder(parent)).toEqual({ path: usual, warnings: [] });
    expect(modeOf(usual)).toBe(0o700);
  });

  const takers: [string, () => void][] = [
    ["a link to a folder", () => symlinkSync(join(parent, "theirs"), usual)],
    ["a link that leads nowhere", () => symlinkSync(join(parent, "nothing"), usual)],
    ["a file", () => writeFileSync(usual, "")],
  ];
  it.each(takers)("R310 is another one, made for this run, where %s has its name", (_name, take) => {
    mkdirSync(join(parent, "theirs"));
    take();
    expectOther();
  });

  it.skipIf(process.getuid?.() !== 0)("R310 is another one where a folder of another user has its name", () => {
    mkdirSync(usual, { mode: 0o700 });
    chownSync(usual, 65_534, 65_534);
    expectOther();
  });

  it("is named, though it cannot be made, where nothing can be made", () => {
    expect(temporaryFolder(join(parent, "missing")).path).toBe(join(parent, "missing", `tau-${process.getuid?.()}`));
  });

  function expectOther(): void {
    const { path, warnings } = temporaryFolder(parent);
    expect(path.startsWith(`${usual}-`)).toBe(true);
    expect(lstatSync(path).isDirectory()).toBe(true);
    expect(modeOf(path)).toBe(0o700);
    expect(warnings).toEqual([`${usual} is not a folder of this user; long outputs are kept in ${path}`]);
  }
});
