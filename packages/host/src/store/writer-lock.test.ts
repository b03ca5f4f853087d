import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { buildProgram, type Program, startProgram } from "./__fixtures__/child-program.ts";
import { user } from "./__fixtures__/drafts.ts";
import { deleteSession } from "./delete-session.ts";
import { SessionLockedError } from "./errors.ts";
import { createSessionStore, openSessionStore } from "./open-session.ts";
import { createWriterLock, lockPathOf, writerOf } from "./writer-lock.ts";

let dir: string;
let program: string;
let path: string;
let count = 0;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "tau-lock-"));
  program = await buildProgram("session-program.ts", join(dir, "program.mjs"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));
beforeEach(() => {
  const store = createSessionStore({ cwd: "/x", sessionsDir: dir, id: `s${count++}` });
  store.append(user("first"));
  store.close();
  path = store.path ?? "";
});

/** A session whose writer was killed. */
async function leaveStaleLock(): Promise<Program> {
  const owner = startProgram(program, ["hold", path]);
  await owner.line("won");
  owner.child.kill("SIGKILL");
  await owner.ended;
  expect(readdirSync(lockPathOf(path))).toHaveLength(1);
  return owner;
}

it("R105 a second process is refused with who writes and what can be done, and may read", async () => {
  const owner = startProgram(program, ["hold", path]);
  await owner.line("won");
  let refusal: unknown;
  try {
    openSessionStore(path);
  } catch (error) {
    refusal = error;
  }
  expect(refusal).toBeInstanceOf(SessionLockedError);
  expect(refusal).toMatchObject({ path, owner: { pid: owner.child.pid } });
  expect(String(refusal)).toMatch(new RegExp(`process ${owner.child.pid} .*fork.*--export.*end that process`));
  owner.say("second");
  await owner.line("appended");
  const view = openSessionStore(path, { readOnly: true });
  expect(view.entries()).toHaveLength(2);
  expect(writerOf(path)?.pid).toBe(owner.child.pid);
  owner.child.stdin?.end();
  expect(await owner.ended).toBe(0);
  expect(existsSync(lockPathOf(path))).toBe(false);
});

it("F9 one process cannot be two writers of a session, and a closed one makes room", () => {
  const first = openSessionStore(path);
  expect(() => openSessionStore(path)).toThrow(SessionLockedError);
  const link = `${path}.link.jsonl`;
  symlinkSync(path, link);
  expect(() => openSessionStore(link)).toThrow(SessionLockedError);
  expect(() => openSessionStore(path, { lock: false }).close()).not.toThrow();
  first.close();
  first.close();
  const second = openSessionStore(path);
  second.append(user("second"));
  second.close();
  expect(openSessionStore(path, { readOnly: true }).entries()).toHaveLength(2);
});

it("F9 a new session is locked from its first byte on", () => {
  const store = createSessionStore({ cwd: "/x", sessionsDir: dir, id: "new" });
  store.append(user("first"));
  expect(() => openSessionStore(store.path ?? "")).toThrow(SessionLockedError);
  store.close();
});

it("R105 the lock of a dead process is taken over", async () => {
  await leaveStaleLock();
  const store = openSessionStore(path);
  expect(() => openSessionStore(path)).toThrow(SessionLockedError);
  store.close();
  expect(existsSync(lockPathOf(path))).toBe(false);
});

it("R105 of many processes that find a dead owner exactly one takes over", async () => {
  for (let round = 0; round < 2; round++) {
    await leaveStaleLock();
    const racers = Array.from({ length: 4 }, () => startProgram(program, ["race", path]));
    await Promise.all(racers.map((racer) => racer.line("ready")));
    for (const racer of racers) racer.say("go");
    const outcomes = await Promise.all(racers.map((racer) => Promise.race([racer.line("won"), racer.line("refused")])));
    expect(outcomes.filter((line) => line.startsWith("won"))).toHaveLength(1);
    for (const racer of racers) racer.child.stdin?.end();
    await Promise.all(racers.map((racer) => racer.ended));
    expect(existsSync(lockPathOf(path))).toBe(false);
  }
}, 60_000);

/**
 * Something that happens at the moment at which a process has seen that the owner is dead and has not acted on it:
 * whether a pid lives is asked by signal 0.
 */
function whileTakingOver<T>(meanwhile: () => void, action: () => T): T {
  const { kill } = process;
  process.kill = (pid, signal) => {
    process.kill = kill;
    meanwhile();
    return process.kill(pid, signal);
  };
  try {
    return action();
  } finally {
    process.kill = kill;
  }
}

it("R334 of two that saw the same dead owner the slower one is refused, and the lock of the faster one stays", async () => {
  await leaveStaleLock();
  const faster = createWriterLock(path);
  const slower = createWriterLock(path);
  const attempt = () =>
    whileTakingOver(
      () => faster.acquire(),
      () => slower.acquire(),
    );
  expect(attempt).toThrow(SessionLockedError);
  expect(writerOf(path)?.pid).toBe(process.pid);
  expect(readdirSync(lockPathOf(path))).toHaveLength(1);
  slower.release();
  expect(() => createWriterLock(path).acquire()).toThrow(SessionLockedError);
  faster.release();
  expect(existsSync(lockPathOf(path))).toBe(false);
});

it("R334 a lock whose dead owner was cleaned away by another is free for the one who saw it", async () => {
  await leaveStaleLock();
  const lock = createWriterLock(path);
  whileTakingOver(
    () => rmSync(lockPathOf(path), { recursive: true }),
    () => lock.acquire(),
  );
  expect(writerOf(path)?.pid).toBe(process.pid);
  lock.release();
});

it("R334 what another process wrote right before it let go of the session is read: first the lock, then the file", async () => {
  await leaveStaleLock();
  const store = whileTakingOver(
    () => appendFileSync(path, `${JSON.stringify(entry)}\n`),
    () => openSessionStore(path),
  );
  expect(store.entries().map(({ id }) => id)).toContain(entry.id);
  const next = store.append(user("third"));
  expect(next.parentId).toBe(entry.id);
  store.close();
});

const entry = {
  type: "message",
  id: "5ec0ad00",
  parentId: null,
  timestamp: "2026-01-01T00:00:00.000Z",
  message: { role: "user", content: "second", timestamp: 2 },
};

it("R334 a refused writer leaves nothing behind, and neither does one that got the lock", () => {
  const names = () => readdirSync(dirname(path)).filter((name) => name.includes(`${basename(path)}.`));
  const store = openSessionStore(path);
  expect(names()).toEqual([basename(lockPathOf(path))]);
  expect(() => openSessionStore(path)).toThrow(SessionLockedError);
  expect(names()).toEqual([basename(lockPathOf(path))]);
  store.close();
  expect(names()).toEqual([]);
});

it("R334 a folder that takes no lock is told from a lock that is taken", () => {
  const lock = createWriterLock(join(dir, "nowhere", "x.jsonl"));
  expect(() => lock.acquire()).toThrow(/ENOENT/);
  writeFileSync(lockPathOf(path), "a file of this name");
  expect(() => createWriterLock(path).acquire()).toThrow(/ENOTDIR/);
  rmSync(lockPathOf(path));
});

it("R334 a session that another process begins to write is not deleted under its hands", async () => {
  await leaveStaleLock();
  const other = createWriterLock(path);
  const attempt = () =>
    whileTakingOver(
      () => other.acquire(),
      () => deleteSession(path),
    );
  expect(attempt).toThrow(SessionLockedError);
  expect(existsSync(path)).toBe(true);
  expect(writerOf(path)?.pid).toBe(process.pid);
  other.release();
  const link = `${path}.link.jsonl`;
  symlinkSync(path, link);
  const writer = openSessionStore(path);
  expect(() => deleteSession(link, { permanent: true })).toThrow(SessionLockedError);
  writer.close();
  deleteSession(link, { permanent: true });
  expect(existsSync(path)).toBe(true);
  deleteSession(path, { permanent: true });
  expect(readdirSync(dirname(path)).filter((name) => name.startsWith(basename(path)))).toEqual([]);
});

/** Puts another owner's name into the lock. */
function disguise(change: (parts: string[]) => string[]): string {
  const lock = createWriterLock(path);
  lock.acquire();
  const [name = ""] = readdirSync(lock.path);
  lock.release();
  mkdirSync(lock.path);
  const file = join(lock.path, change(name.split("_")).join("_"));
  mkdirSync(file);
  return file;
}

it("R105 a pid that was given to another process since is not an owner", () => {
  disguise(([pid = "", start = "", ...rest]) => [pid, String(Number(start) + 1), ...rest]);
  openSessionStore(path).close();
});

it("R105 an owner on another machine counts as alive while it touches its lock, and is named", () => {
  const file = disguise(([pid = "", start = "", namespace = "", _host, ...rest]) => [
    pid,
    start,
    namespace,
    "far-away",
    ...rest,
  ]);
  expect(() => openSessionStore(path)).toThrow(/far-away/);
  const longAgo = new Date(Date.now() - 3_600_000);
  utimesSync(file, longAgo, longAgo);
  openSessionStore(path).close();
});

it("R105 an owner in another container is not judged by the pids of this one", () => {
  disguise(([_pid, start = "", _namespace, ...rest]) => ["1", start, "999", ...rest]);
  expect(() => openSessionStore(path)).toThrow(SessionLockedError);
  const remedy = `container does not run any more, delete its lock ${lockPathOf(path)}`;
  expect(() => openSessionStore(path)).toThrow(remedy);
});

it("R105 a file that somebody else left in the lock folder hides no owner", () => {
  const first = openSessionStore(path);
  writeFileSync(join(lockPathOf(path), ".DS_Store"), "");
  expect(writerOf(path)?.pid).toBe(process.pid);
  expect(() => openSessionStore(path)).toThrow("end that process");
  first.close();
  expect(() => openSessionStore(path)).toThrow(`when nothing writes to it, delete its lock ${lockPathOf(path)}`);
});

it("R105 a lock folder that nobody is in, as a kill during a release leaves it, is free", () => {
  mkdirSync(lockPathOf(path));
  openSessionStore(path).close();
  expect(existsSync(lockPathOf(path))).toBe(false);
});

it("R105 a lock nobody can read is respected", () => {
  mkdirSync(join(lockPathOf(path), "something"), { recursive: true });
  expect(() => openSessionStore(path)).toThrow(/another process/);
  renameSync(lockPathOf(path), `${lockPathOf(path)}.away`);
  openSessionStore(path).close();
});

it("R105 a writer that slept and lost its session to another machine writes no more", () => {
  vi.useFakeTimers();
  try {
    const store = openSessionStore(path);
    const [name = ""] = readdirSync(lockPathOf(path));
    renameSync(join(lockPathOf(path), name), join(lockPathOf(path), "1_1_1_far-away_1"));
    vi.advanceTimersByTime(60_000);
    store.append(user("late"));
    expect(store.recording).toMatchObject({ status: "failing", unsaved: 1 });
    store.close();
    expect(openSessionStore(path, { readOnly: true }).entries()).toHaveLength(1);
    expect(readdirSync(lockPathOf(path))).toEqual(["1_1_1_far-away_1"]);
  } finally {
    vi.useRealTimers();
  }
});

it("F9 an id that is claimed belongs to one process before there is a file, wherever it works", () => {
  const options = { sessionsDir: dir, id: "mine", claim: true };
  const first = createSessionStore({ ...options, cwd: "/a" });
  expect(() => createSessionStore({ ...options, cwd: "/b" })).toThrow(SessionLockedError);
  expect(() => createSessionStore({ ...options, cwd: "/b" })).toThrow(/session "mine" is being begun by process/);
  first.append(user("from here on the file has a lock of its own"));
  expect(existsSync(lockPathOf(join(dir, ".mine")))).toBe(false);
  expect(() => openSessionStore(first.path ?? "")).toThrow(SessionLockedError);
  first.close();
  const second = createSessionStore({ ...options, id: "other", cwd: "/a" });
  second.close();
  expect(existsSync(lockPathOf(join(dir, ".other")))).toBe(false);
  expect(existsSync(second.path ?? "")).toBe(false);
});
