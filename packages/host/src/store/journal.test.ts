import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildProgram, startProgram } from "./__fixtures__/child-program.ts";
import { assistant, linesOf, user } from "./__fixtures__/drafts.ts";
import { failingFs } from "./__fixtures__/failing-fs.ts";
import { createSessionStore, openSessionStore } from "./open-session.ts";

let dir: string;
let program: string;
let count = 0;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "tau-journal-"));
  program = await buildProgram("session-program.ts", join(dir, "program.mjs"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const fresh = (fs = failingFs()) => createSessionStore({ cwd: "/x", sessionsDir: dir, id: `s${count++}`, fs });

it("F11 a full disk is reported with a count, the session continues in memory, and writing resumes in order", () => {
  const fs = failingFs();
  const store = fresh(fs);
  store.append(user("1"));
  fs.room = 0;
  store.append(assistant("2"));
  store.append(user("3"));
  expect(store.recording).toEqual({ status: "failing", reason: "ENOSPC: the disk refuses", unsaved: 2 });
  expect(store.projection().messages).toHaveLength(3);
  store.sync();
  expect(store.recording.status).toBe("failing");
  fs.room = Number.POSITIVE_INFINITY;
  store.append(assistant("4"));
  expect(store.recording).toEqual({ status: "ok" });
  expect(linesOf(store.path ?? "").slice(1)).toEqual(store.entries());
  store.close();
});

it("F11 sync tries again, also without a new entry", () => {
  const fs = failingFs();
  const store = fresh(fs);
  store.append(user("1"));
  fs.refuse.add("write");
  store.append(assistant("2"));
  fs.refuse.clear();
  store.sync();
  expect(store.recording).toEqual({ status: "ok" });
  expect(linesOf(store.path ?? "")).toHaveLength(3);
  store.close();
});

it("F11 a read-only disk keeps nobody from working, and a close does not hide what is unsaved", () => {
  for (const call of ["mkdir", "open"] as const) {
    const fs = failingFs();
    fs.code = "EROFS";
    fs.refuse.add(call);
    const store = fresh(fs);
    store.append(user("1"));
    store.append(assistant("2"));
    store.close();
    expect(store.recording).toMatchObject({ status: "failing", reason: expect.stringContaining("EROFS"), unsaved: 2 });
    expect(store.projection().messages).toHaveLength(2);
  }
});

it("F11 an existing session on a disk that refuses is known to be unsaved before the first entry", () => {
  const first = fresh();
  first.append(user("1"));
  first.close();
  const fs = failingFs();
  fs.code = "EROFS";
  fs.refuse.add("open");
  const store = openSessionStore(first.path ?? "", { fs });
  expect(store.recording).toMatchObject({ status: "failing", unsaved: 0 });
  store.append(assistant("2"));
  expect(store.recording).toMatchObject({ unsaved: 1 });
  fs.refuse.clear();
  store.sync();
  expect(store.recording).toEqual({ status: "ok" });
  store.close();
  expect(linesOf(first.path ?? "")).toHaveLength(3);
});

it("F11 a failing fsync is reported and tried again", () => {
  const fs = failingFs();
  const store = fresh(fs);
  store.append(user("1"));
  fs.code = "EIO";
  fs.refuse.add("fsync");
  store.sync();
  expect(store.recording).toMatchObject({ status: "failing", reason: expect.stringContaining("EIO"), unsaved: 0 });
  fs.refuse.clear();
  store.sync();
  expect(store.recording).toEqual({ status: "ok" });
  store.close();
});

const THEFTS: [string, RegExp, (path: string) => void][] = [
  ["removed", /removed or replaced/, (path) => rmSync(path)],
  ["replaced", /removed or replaced/, (path) => renameSync(copyOf(path), path)],
  ["moved away", /moved away/, (path) => renameSync(path, `${path}.moved`)],
  ["moved away and replaced", /removed or replaced/, (path) => copyFileSync(moved(path), path)],
  ["moved away and replaced by nothing of it", /removed or replaced/, (path) => void writeFileSync(emptied(path), "")],
  ["moved away, with a folder in its place", /removed or replaced/, (path) => mkdirSync(emptied(path))],
  ["moved away, with a link to another one in its place", /removed or replaced/, (path) => linkToCopy(path)],
  ["emptied", /cut short/, (path) => truncateSync(path)],
  ["cut short", /cut short/, (path) => truncateSync(path, 200)],
];

function copyOf(path: string): string {
  copyFileSync(path, `${path}.copy`);
  return `${path}.copy`;
}

function moved(path: string): string {
  renameSync(path, `${path}.moved`);
  return `${path}.moved`;
}

function emptied(path: string): string {
  moved(path);
  return path;
}

function linkToCopy(path: string): void {
  const copy = copyOf(path);
  symlinkSync(copy, emptied(path));
}

it("R310 a file that is still the same one, by a link to where it was moved, is written on", () => {
  const store = fresh();
  const path = store.path ?? "";
  store.append(user("1"));
  symlinkSync(moved(path), path);
  store.append(user("2"));
  expect(store.recording).toEqual({ status: "ok" });
  store.close();
  expect(linesOf(path)).toHaveLength(3);
});

it("R310 a file system that does not say which file has a name is written as any other", () => {
  const fs = failingFs();
  delete fs.identify;
  const store = fresh(fs);
  store.append(user("1"));
  moved(store.path ?? "");
  store.append(user("2"));
  expect(store.recording).toEqual({ status: "ok" });
  store.close();
});

it.each(THEFTS)(
  "F11 R310 a file that is %s during the run is reported as not saved, for good",
  (_name, reason, steal) => {
    for (const notice of ["append", "sync", "close"] as const) {
      const store = fresh();
      const path = store.path ?? "";
      store.append(user("1"));
      store.append(assistant("2"));
      steal(path);
      const left = readIfThere(path);
      if (notice === "append") store.append(user("3"));
      else store[notice]();
      const unsaved = notice === "append" ? 3 : 2;
      expect(store.recording).toEqual({ status: "failing", reason: expect.stringMatching(reason), unsaved });
      store.sync();
      store.close();
      expect(store.recording).toMatchObject({ status: "failing", unsaved });
      expect(store.projection().messages).toHaveLength(unsaved);
      expect(readIfThere(path)).toBe(left);
    }
  },
);

it("F11 entries that were to be read again from a file that is gone are missing, no more", () => {
  const store = fresh();
  const first = store.append(user("1"));
  const kept = store.append(user("2"));
  store.append({ type: "compaction", summary: "short", firstKeptEntryId: kept.id, tokensBefore: 9 });
  rmSync(store.path ?? "");
  expect(store.entry(first.id)).toBeUndefined();
  store.append(user("3"));
  expect(store.projection().messages).toHaveLength(3);
  store.close();
});

it("R107 wherever the disk fills up and however often, no line is torn and none is lost", () => {
  const rooms = fc.array(fc.nat(400), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(rooms, fc.boolean(), (spaces, fixed) => {
      const fs = failingFs(0);
      // Then a line that was cut short stays, and is continued.
      if (fixed) fs.refuse.add("truncate");
      const store = fresh(fs);
      for (const [index, room] of spaces.entries()) {
        fs.room = room;
        store.append(user(`é ${index} ${"x".repeat(index * 20)}`));
        const written = readIfThere(store.path ?? "");
        const whole = written
          .slice(0, written.lastIndexOf("\n") + 1)
          .split("\n")
          .filter((line) => line !== "");
        for (const line of whole) JSON.parse(line);
        if (!fixed) expect(written === "" || written.endsWith("\n")).toBe(true);
        if (store.recording.status === "failing") {
          expect(store.recording.unsaved).toBe(store.entries().length - Math.max(0, whole.length - 1));
        }
      }
      fs.room = Number.POSITIVE_INFINITY;
      store.sync();
      store.close();
      expect(linesOf(store.path ?? "").slice(1)).toEqual(store.entries());
    }),
    { numRuns: 60 },
  );
});

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

it("R107 a process on a file-size limit continues, says so each time, and leaves a readable file", async () => {
  const folder = join(dir, "limited");
  // Blocks of 512 bytes: room for about 12 of 20 messages. Node ignores the signal, the write fails with EFBIG.
  const run = startProgram(program, ["fill", folder, "20"], "ulimit -f 16;");
  expect(await run.ended).toBe(0);
  const states = run.lines.filter((line) => /^\d+ /.test(line)).map((line) => JSON.parse(line.replace(/^\d+ /, "")));
  const unsaved = states.filter((state) => state.status === "failing").map((state) => state.unsaved);
  expect(states[0]).toEqual({ status: "ok" });
  expect(unsaved.length).toBeGreaterThan(3);
  expect(unsaved).toEqual(unsaved.map((_, index) => index + 1));
  const path = (await run.line("path ")).slice(5);
  const saved = openSessionStore(path, { readOnly: true });
  expect(saved.entries()).toHaveLength(20 - unsaved.length);
  expect(run.lines.at(-1)).toContain('"status":"failing"');
});

it("R108 at the end it is still known that the session was not saved", async () => {
  const folder = join(dir, "unsaved");
  const run = startProgram(program, ["fill", folder, "20"], "ulimit -f 16;");
  await run.ended;
  expect(run.lines.at(-1)).toMatch(/^closed .*"status":"failing".*"unsaved":[1-9]/);
});

it("R107 on a full tmpfs the session continues and is whole when there is space again", ({ skip }) => {
  const mount = join(dir, "small");
  mkdirSync(mount);
  const mounted = spawnSync("sh", ["-c", 'mount -t tmpfs -o size=64k tmpfs "$0"', mount]).status === 0;
  skip(!mounted, "mounting needs root");
  try {
    const ballast = join(mount, "ballast");
    writeFileSync(ballast, Buffer.alloc(32 * 1024));
    const store = createSessionStore({ cwd: "/x", sessionsDir: mount });
    for (let i = 0; i < 60; i++) store.append(user(`message ${i} ${"x".repeat(500)}`));
    expect(store.recording).toMatchObject({ status: "failing", reason: expect.stringContaining("ENOSPC") });
    rmSync(ballast);
    store.sync();
    expect(store.recording).toEqual({ status: "ok" });
    store.close();
    expect(linesOf(store.path ?? "").slice(1)).toEqual(store.entries());
  } finally {
    spawnSync("sh", ["-c", 'umount "$0"', mount]);
  }
});
