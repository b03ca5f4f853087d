import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openSessionStore } from "./open-session.ts";
import { peekSession } from "./peek-session.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tau-open-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

it("R235 what is not a file is refused as a session with its kind, before a byte of it is read", () => {
  const pipe = join(dir, "pipe.jsonl");
  execFileSync("mkfifo", [pipe]);
  for (const [path, kind] of [
    ["/dev/zero", "a character device"],
    ["/dev/null", "a character device"],
    [pipe, "a named pipe"],
    [dir, "a folder"],
  ] as const) {
    expect(() => openSessionStore(path)).toThrow(
      `${path}: it is ${kind}, not a file; give the path of a session's file`,
    );
    expect(peekSession(path)).toBeUndefined();
  }
});
