import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { assistant, call, linesOf, result, user } from "./__fixtures__/drafts.ts";
import { cleanUpSessions, deleteSession } from "./delete-session.ts";
import { SessionFileError, SessionLockedError } from "./errors.ts";
import { forkSession } from "./fork-session.ts";
import { listSessions } from "./list-sessions.ts";
import { labelEntry, navigate, renameSession } from "./navigate.ts";
import { createMemoryStore, createSessionStore, openSessionStore } from "./open-session.ts";
import { recordQueues } from "./queue-record.ts";
import { searchSessions } from "./search-sessions.ts";
import type { SessionStore } from "./session-store.ts";

let dir: string;
let parent: SessionStore;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tau-fork-"));
  parent = createSessionStore({ cwd: "/w", sessionsDir: dir });
});
afterEach(() => {
  parent.close();
  rmSync(dir, { recursive: true, force: true });
});

const target = () => ({ sessionsDir: dir, cwd: "/w" });
const files = () =>
  readdirSync(dir, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith(".jsonl"));

it("R109 a fork names its parent and writes what the model sees, not the parent's history", () => {
  for (let i = 0; i < 200; i++) parent.append(user(`${i} ${"x".repeat(5_000)}`));
  const kept = parent.append(user("kept"));
  parent.append({ type: "compaction", summary: "s", firstKeptEntryId: kept.id, tokensBefore: 9 });
  parent.append(assistant("answer"));
  const before = readFileSync(parent.path ?? "");
  const sizes = Array.from({ length: 20 }, () => {
    const fork = forkSession({ ...target(), from: parent });
    fork.append(user("on"));
    fork.close();
    expect(fork.header.parentSession).toBe(parent.path);
    const again = openSessionStore(fork.path ?? "", { readOnly: true });
    expect(again.projection().messages.slice(0, -1)).toEqual(parent.projection().messages);
    expect(again.warnings).toEqual([]);
    return statSync(fork.path ?? "").size;
  });
  expect(before.length).toBeGreaterThan(1_000_000);
  expect(Math.max(...sizes)).toBeLessThan(3_000);
  expect(readFileSync(parent.path ?? "").equals(before)).toBe(true);
});

it("R109 a fork can be read when its parent is gone", () => {
  parent.append(user("a"));
  parent.append(assistant("b"));
  parent.close();
  const fork = forkSession({ ...target(), from: parent.path ?? "", write: "now" });
  fork.close();
  deleteSession(parent.path ?? "", { permanent: true });
  const again = openSessionStore(fork.path ?? "");
  expect(again.projection().messages).toHaveLength(2);
  again.close();
});

it("R111 a fork has model, level and system prompt of its point, also when they were set before the kept entries", () => {
  const systemMessage = { role: "system" as const, content: "prompt", timestamp: 1 };
  parent.append({ type: "model_change", provider: "p", modelId: "A" });
  parent.append({ type: "thinking_level_change", thinkingLevel: "high" });
  parent.append({ type: "custom", customType: "plan", data: 1 });
  parent.append({ type: "custom", customType: "plan", data: 2 });
  const kept = parent.append(user("a"));
  parent.append({ type: "compaction", summary: "s", firstKeptEntryId: kept.id, tokensBefore: 9, systemMessage });
  const point = parent.append(user("b"));
  parent.append({ type: "model_change", provider: "p", modelId: "B" });
  const fork = forkSession({ ...target(), from: parent, entryId: point.id });
  expect(fork.projection()).toEqual(parent.projection(point.id));
  expect(fork.projection()).toMatchObject({ model: { modelId: "A" }, thinkingLevel: "high", system: systemMessage });
  expect(fork.newestCustom("plan")?.data).toBe(2);
});

it("R112 a fork that comes to nothing leaves no file", () => {
  parent.append(user("a"));
  const before = files();
  const fork = forkSession({ ...target(), from: parent });
  fork.append({ type: "model_change", provider: "p", modelId: "gone" });
  fork.sync();
  fork.close();
  expect(() => forkSession({ ...target(), from: parent, entryId: "nowhere", write: "now" })).toThrow(SessionFileError);
  expect(() => forkSession({ ...target(), from: join(dir, "none.jsonl"), write: "now" })).toThrow(SessionFileError);
  expect(files()).toEqual(before);
});

it("F1 a fork of a point has that branch alone; edits and labels of what it has come with it", () => {
  const a = parent.append(user("a"));
  const b = parent.append(assistant("b", call("c1")));
  const c = parent.append(result("c1", "c"));
  parent.append({ type: "context_edit", targetId: c.id, replacement: "cut" });
  labelEntry(parent, a.id, "start");
  const end = parent.append(user("end"));
  renameSession(parent, "mine");
  recordQueues(parent, { steering: [{ role: "user", content: "q", timestamp: 1 }], followUp: [] });
  parent.moveLeaf(b.id);
  labelEntry(parent, parent.append(user("other")).id, "elsewhere");
  const fork = forkSession({ ...target(), from: parent, entryId: end.id, write: "now" });
  expect(fork.projection().messages).toEqual(parent.projection(end.id).messages);
  expect([...fork.labels()]).toEqual([[a.id, "start"]]);
  expect(fork.name()).toBeUndefined();
  expect(fork.newestCustom("tau.queue")).toBeUndefined();
  expect(new Set(fork.entries().map((entry) => entry.id)).size).toBe(fork.entries().length);
  expect(linesOf(fork.path ?? "").slice(1)).toEqual(fork.entries());
  fork.close();
  const none = forkSession({ ...target(), from: parent, entryId: null });
  expect(none.entries()).toEqual([]);
});

it("F1 a session in memory can be forked too", () => {
  const memory = createMemoryStore({ cwd: "/w" });
  memory.append(user("a"));
  const fork = forkSession({ ...target(), from: memory });
  expect(fork.header.parentSession).toBeUndefined();
  expect(fork.projection().messages).toHaveLength(1);
});

it("F1 one goes back behind a user message to say it anew, and on after anything else", () => {
  const a = parent.append(user("a"));
  const b = parent.append(assistant("b"));
  const c = parent.append(user("c"));
  expect(navigate(parent, c.id)).toEqual({ leafId: b.id, editorText: "c" });
  expect(navigate(parent, b.id)).toEqual({ leafId: b.id });
  parent.append(user("d"));
  const left = parent.leafId;
  expect(navigate(parent, a.id, { summary: "tried d" })).toMatchObject({ editorText: "a" });
  expect(parent.branch()).toMatchObject([{ type: "branch_summary", parentId: null, fromId: left, summary: "tried d" }]);
  expect(() => navigate(parent, "nowhere")).toThrow(/no entry/);
});

it("R109 a deleted session goes to the trash, unless someone writes to it, and old ones are cleaned up", () => {
  parent.append(user("a"));
  const path = parent.path ?? "";
  expect(() => deleteSession(path)).toThrow(SessionLockedError);
  expect(existsSync(path)).toBe(true);
  parent.close();
  const trash = deleteSession(path) ?? "";
  expect(trash).toBe(join(dirname(path), ".trash", basename(path)));
  expect(listSessions(dir)).toEqual([]);
  expect(linesOf(trash)).toHaveLength(2);
  expect(() => deleteSession(path)).toThrow(SessionFileError);

  const paths = ["old", "named", "new"].map((id) => {
    const store = createSessionStore({ ...target(), id });
    if (id === "named") renameSession(store, "keep me");
    store.append(user("x"));
    store.close();
    return store.path ?? "";
  });
  for (const each of [...paths.slice(0, 2), trash]) utimesSync(each, 1_000, 1_000);
  expect(cleanUpSessions(dir, { before: 2_000_000 })).toEqual({ trashed: [paths[0]], deleted: [trash] });
  expect(listSessions(dir).map(({ id }) => id)).toEqual(expect.arrayContaining(["named", "new"]));
  expect(cleanUpSessions(dir, { before: 2_000_000 })).toEqual({ trashed: [], deleted: [] });
});

it("F1 what was said is found in all sessions, whatever its case, without the rest being read", async () => {
  parent.append(user('Where is the "Needle"?'));
  parent.append(assistant("", call("c1", { command: "grep needle" })));
  parent.append(user(`${"x".repeat(400_000)} NEEDLE\u2028 é`));
  parent.append({ type: "custom", customType: "needle", data: "needle" });
  const other = createSessionStore({ cwd: "/other", sessionsDir: dir });
  other.append(user("a needle as well"));
  other.close();
  const find = async (text: string, cwd?: string) => {
    const hits = [];
    for await (const hit of searchSessions(dir, text, cwd === undefined ? {} : { cwd })) hits.push(hit);
    return hits.map(({ role, snippet, session }) => `${session.cwd} ${role} ${snippet.slice(0, 30)}`);
  };
  expect(await find("needle", "/w")).toEqual([
    '/w user Where is the "Needle"?',
    '/w assistant {"command":"grep needle"}',
    `/w user ${"x".repeat(30)}`,
  ]);
  expect(await find("needle")).toHaveLength(4);
  expect(await find('the "needle"')).toHaveLength(1);
  expect(await find("nothing")).toEqual([]);
  expect(await find("")).toEqual([]);
});

it("F1 a search stops when it is told to", async () => {
  for (let i = 0; i < 20; i++) parent.append(user(`needle ${i} ${"x".repeat(100_000)}`));
  const stop = new AbortController();
  let hits = 0;
  for await (const _hit of searchSessions(dir, "needle", { signal: stop.signal })) {
    hits++;
    stop.abort();
  }
  expect(hits).toBeLessThan(20);
});
