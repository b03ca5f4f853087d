import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { buildProgram, startProgram } from "./__fixtures__/child-program.ts";
import { assistant, call, linesOf, result, user } from "./__fixtures__/drafts.ts";
import { failingFs } from "./__fixtures__/failing-fs.ts";
import { createMemoryStore, createSessionStore, openSessionStore } from "./open-session.ts";
import { persistedQueues, recordQueues } from "./queue-record.ts";
import type { SessionStore } from "./session-store.ts";
import { CALL_STARTED_RECORD } from "./tau-record-types.ts";
import { unansweredCalls } from "./tau-records.ts";

let dir: string;
let program: string;
const open: SessionStore[] = [];

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "tau-tree-"));
  program = await buildProgram("session-program.ts", join(dir, "program.mjs"));
});
afterEach(() => {
  for (const store of open.splice(0)) store.close();
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function kept(store: SessionStore): SessionStore {
  open.push(store);
  return store;
}
const fresh = () => kept(createSessionStore({ cwd: "/w", sessionsDir: dir }));
/** The session as another process finds it after this one was killed. */
const asLeft = (store: SessionStore) => openSessionStore(store.path ?? "", { readOnly: true });

it("F1 the leaf survives a restart: the last entry, or what it was moved to since", () => {
  const store = fresh();
  const a = store.append(user("a"));
  const b = store.append(assistant("b"));
  expect(asLeft(store).leafId).toBe(b.id);
  store.moveLeaf(a.id);
  expect(store.leafId).toBe(a.id);
  expect(asLeft(store).leafId).toBe(a.id);
  const c = store.append(user("c"));
  expect(c.parentId).toBe(a.id);
  expect(asLeft(store).leafId).toBe(c.id);
  store.moveLeaf(null);
  expect(store.leafId).toBeNull();
  expect(asLeft(store).leafId).toBeNull();
  expect(asLeft(store).projection().messages).toEqual([]);
  const root = store.append(user("new root"));
  expect(root.parentId).toBeNull();
  expect(
    asLeft(store)
      .branch()
      .map((entry) => entry.id),
  ).toEqual([root.id]);
});

it("F1 a reader that knows no leaf records is on the right branch too", () => {
  const store = fresh();
  const a = store.append(user("a"));
  store.append(assistant("b"));
  store.moveLeaf(a.id);
  // To such a reader the last line is the leaf, and its parents are the branch.
  const lines = linesOf(store.path ?? "");
  expect(lines.at(-1)).toMatchObject({
    type: "custom",
    customType: "tau.leaf",
    parentId: a.id,
    data: { leafId: a.id },
  });
  store.moveLeaf(null);
  expect(linesOf(store.path ?? "").at(-1)).toMatchObject({
    customType: "tau.leaf",
    parentId: null,
    data: { leafId: null },
  });
});

it("F1 what another program appends below a leaf record continues from there", () => {
  const store = fresh();
  const a = store.append(user("a"));
  store.append(assistant("b"));
  store.moveLeaf(a.id);
  const record = store.entries().at(-1);
  store.close();
  const message = { role: "user", content: "theirs", timestamp: 1 };
  const line = { type: "message", id: "theirs", parentId: record?.id, timestamp: new Date().toISOString(), message };
  appendFileSync(store.path ?? "", `${JSON.stringify(line)}\n`);
  const again = asLeft(store);
  expect(again.leafId).toBe("theirs");
  expect(again.projection().messages).toHaveLength(2);
});

it("F1 a move to where one is, or to nowhere, writes nothing", () => {
  const store = fresh();
  const a = store.append(user("a"));
  store.moveLeaf(a.id);
  expect(() => store.moveLeaf("nowhere")).toThrow(/no entry nowhere/);
  expect(store.entries()).toHaveLength(1);
});

it("F1 ids are unique in a session, whatever makes them", () => {
  const store = createMemoryStore({ cwd: "/w", newId: () => "same" });
  const ids = Array.from({ length: 50 }, (_, i) => store.append(user(String(i))).id);
  expect(new Set(ids).size).toBe(50);
});

it("F10 a killed process loses no entry that it had reported", async () => {
  for (let round = 0; round < 4; round++) {
    const store = createSessionStore({ cwd: "/w", sessionsDir: dir, id: `kill${round}` });
    store.append(user("first"));
    store.close();
    const run = startProgram(program, ["append", store.path ?? ""]);
    while (run.lines.length < 20 + round * 40) await new Promise((resolve) => run.child.once("lines", resolve));
    run.child.kill("SIGKILL");
    expect(await run.ended).toBe("SIGKILL");
    const again = kept(openSessionStore(store.path ?? ""));
    for (const id of run.lines) expect(again.entry(id)?.id).toBe(id);
    again.append(user("continues"));
    expect(linesOf(store.path ?? "").at(-1)).toEqual(again.entries().at(-1));
  }
});

it("F10 a reopened session knows which calls never began and which may have run in part", () => {
  const store = fresh();
  store.append(user("go"));
  store.append(assistant("", call("done")));
  store.append({ type: "custom", customType: CALL_STARTED_RECORD, data: { toolCallId: "done", toolName: "bash" } });
  store.append(result("done", "ok"));
  const batch = store.append(assistant("", call("c1"), call("c2"), call("c3")));
  for (const toolCallId of ["c1", "c2"]) {
    store.append({ type: "custom", customType: CALL_STARTED_RECORD, data: { toolCallId, toolName: "bash" } });
  }
  store.append(result("c1", "ok"));
  expect(unansweredCalls(asLeft(store))).toEqual([
    { call: call("c2"), entryId: batch.id, started: true },
    { call: call("c3"), entryId: batch.id, started: false },
  ]);
  store.moveLeaf(store.entries()[0]?.id ?? "");
  expect(unansweredCalls(asLeft(store))).toEqual([]);
});

it("F10 calls of a hidden attempt need no answer", () => {
  const store = fresh();
  store.append(user("go"));
  const failed = store.append(assistant("", call("c1")));
  store.append({ type: "context_edit", targetId: failed.id, replacement: null });
  expect(unansweredCalls(store)).toEqual([]);
});

const queued = (content: string, timestamp: number) => ({ role: "user" as const, content, timestamp });

it("Q4 queues are recorded whole when they change, and found after a crash", () => {
  const store = fresh();
  store.append(user("go"));
  recordQueues(store, { steering: [], followUp: [] });
  expect(store.entries()).toHaveLength(1);
  const queues = { steering: [queued("s", 10)], followUp: [queued("f", 11)] };
  recordQueues(store, queues);
  recordQueues(store, queues);
  expect(store.entries()).toHaveLength(2);
  expect(persistedQueues(asLeft(store))).toMatchObject(queues);
  recordQueues(store, { steering: [], followUp: [queued("f", 11)] });
  expect(persistedQueues(asLeft(store))).toMatchObject({ steering: [], followUp: [queued("f", 11)] });
  store.append(assistant("answer"));
  expect(persistedQueues(asLeft(store)).followUp).toHaveLength(1);
});

it("Q4 a message that entered the transcript before the queues were recorded again is not sent twice", () => {
  const store = fresh();
  store.append(user("go"));
  recordQueues(store, {
    steering: [queued("same", 10), queued("same", 10), queued("other", 12)],
    followUp: [queued("f", 11)],
  });
  store.append({ type: "message", message: queued("same", 10) });
  expect(persistedQueues(asLeft(store))).toMatchObject({
    steering: [queued("same", 10), queued("other", 12)],
    followUp: [queued("f", 11)],
  });
});

it("O1 an entry costs one write of its own line, however long the session is", () => {
  const fs = failingFs();
  const store = kept(createSessionStore({ cwd: "/w", sessionsDir: dir, fs }));
  store.append(user("start"));
  const costs = Array.from({ length: 2_000 }, (_, i) => {
    const before = { size: statSync(store.path ?? "").size, writes: fs.writes };
    store.append(user(`message ${i % 10}`));
    return `${fs.writes - before.writes} of ${statSync(store.path ?? "").size - before.size}`;
  });
  const line = readFileSync(store.path ?? "", "utf8").split("\n")[1_000] ?? "";
  expect(new Set(costs)).toEqual(new Set([`1 of ${line.length + 1}`]));
});

it("O4 what a compaction summarised is let go of and read from the file again, unchanged", () => {
  const store = fresh();
  const drafts = Array.from({ length: 30 }, (_, i) => (i % 2 === 0 ? user(`é ${i}`) : assistant(`answer ${i}`)));
  const appended = drafts.map((draft) => store.append(draft));
  store.append({ type: "compaction", summary: "s", firstKeptEntryId: appended[20]?.id ?? "", tokensBefore: 1 });
  for (const [index, entry] of appended.entries()) {
    const now = store.entry(entry.id);
    expect(now).toEqual(entry);
    // An object of its own: the session holds no reference to the old one.
    expect(now === entry).toBe(index >= 20);
  }
  expect(store.branch().slice(0, 30)).toEqual(appended);
});

it("O4 nothing is let go of when another program wrote in between", () => {
  const store = fresh();
  const a = store.append(user("a"));
  appendFileSync(store.path ?? "", "{}\n");
  store.append(user("b"));
  store.append({ type: "compaction", summary: "s", firstKeptEntryId: "none", tokensBefore: 1 });
  expect(store.entry(a.id)).toBe(a);
});

it("L5 what JSON cannot hold does not keep an entry from being recorded", () => {
  const store = fresh();
  const circle: Record<string, unknown> = { big: 10n, fine: [1, { a: "b" }] };
  circle.self = circle;
  circle.toJSON = () => {
    throw new Error("no");
  };
  store.append(user("a"));
  const entry = store.append({ type: "custom", customType: "x", data: circle });
  expect(entry).toMatchObject({ data: { big: "10", fine: [1, { a: "b" }], self: "[circular]" } });
  expect(asLeft(store).entry(entry.id)).toEqual(entry);
});

it("F9 a session that was opened to look at is not written to", () => {
  const store = fresh();
  store.append(user("a"));
  const before = readFileSync(store.path ?? "");
  const view = asLeft(store);
  view.append(user("b"));
  view.sync();
  view.close();
  expect(view.recording).toEqual({ status: "failing", reason: "the session was opened read-only", unsaved: 1 });
  expect(readFileSync(store.path ?? "")).toEqual(before);
});
