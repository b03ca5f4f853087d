import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { assistant, call, linesOf, result, user } from "./__fixtures__/drafts.ts";
import { createMemoryStore, createSessionStore, openSessionStore } from "./open-session.ts";

let dir: string;
const cwd = "/home/me/project:a";

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tau-store-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const fresh = () => createSessionStore({ cwd, sessionsDir: join(dir, "sessions") });

it("F1 is one JSON object a line, header first, each entry with id, parent and time", () => {
  const store = fresh();
  store.append({ type: "model_change", provider: "p", modelId: "m" });
  store.append(user("one\ntwo"));
  store.append(assistant("three"));
  store.close();
  const path = store.path ?? "";
  const [header, ...entries] = linesOf(path);
  expect(header).toEqual({ type: "session", version: 3, id: store.header.id, timestamp: store.header.timestamp, cwd });
  expect(path).toBe(
    join(
      dir,
      "sessions",
      "--home-me-project-a--",
      `${store.header.timestamp.replace(/[:.]/g, "-")}_${store.header.id}.jsonl`,
    ),
  );
  expect(entries.map((entry) => entry.type)).toEqual(["model_change", "message", "message"]);
  let parentId: unknown = null;
  for (const entry of entries) {
    expect(entry.parentId).toBe(parentId);
    expect(entry.id).toMatch(/^[0-9a-f]{8}$/);
    expect(new Date(String(entry.timestamp)).toISOString()).toBe(entry.timestamp);
    parentId = entry.id;
  }
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
});

it("F3 writes nothing before the first user or assistant message, then all that was kept", () => {
  const store = fresh();
  store.append({ type: "session_info", name: "n" });
  store.append({ type: "message", message: { role: "system", content: "be brief", timestamp: 1 } });
  store.sync();
  expect(readdirSync(dir)).toEqual([]);
  store.append(user("hello"));
  expect(linesOf(store.path ?? "")).toHaveLength(4);
  store.append(assistant("hi"));
  expect(linesOf(store.path ?? "")).toHaveLength(5);
  store.close();
});

it("F3 leaves nothing behind when a session ends without a message", () => {
  const store = fresh();
  store.append({ type: "model_change", provider: "p", modelId: "m" });
  store.close();
  expect(existsSync(join(dir, "sessions"))).toBe(false);
});

it("F3 never writes over a file of the same name", () => {
  const options = { cwd, sessionsDir: join(dir, "sessions"), id: "same", now: () => 0 };
  const first = createSessionStore(options);
  first.append(user("mine"));
  first.close();
  const before = readFileSync(first.path ?? "");
  const second = createSessionStore(options);
  second.append(user("other"));
  expect(second.recording).toMatchObject({ status: "failing", unsaved: 1 });
  second.close();
  expect(readFileSync(first.path ?? "")).toEqual(before);
});

it("F4 old bytes never change, whatever is done with a session", () => {
  const store = fresh();
  const first = store.append(user("a"));
  const path = store.path ?? "";
  let before = readFileSync(path);
  const unchanged = () => {
    const now = readFileSync(path);
    expect(now.subarray(0, before.length)).toEqual(before);
    before = now;
  };
  const answer = store.append(assistant("b"));
  unchanged();
  store.append({ type: "context_edit", targetId: answer.id, replacement: null });
  unchanged();
  store.moveLeaf(first.id);
  unchanged();
  store.moveLeaf(null);
  store.append({ type: "label", targetId: first.id, label: "x" });
  unchanged();
  store.close();
  const again = openSessionStore(path);
  unchanged();
  again.append({ type: "compaction", summary: "s", firstKeptEntryId: first.id, tokensBefore: 1 });
  unchanged();
  again.close();
  unchanged();
});

it("F1 F5 a reopened session says what it said before", () => {
  const store = fresh();
  store.append({ type: "thinking_level_change", thinkingLevel: "high" });
  store.append(user("go"));
  store.append(assistant("", call("c1")));
  store.append(result("c1", "done"));
  store.append(assistant("ready"));
  store.close();
  const again = openSessionStore(store.path ?? "", { readOnly: true });
  expect(again.projection()).toEqual(store.projection());
  expect(again.entries()).toEqual(store.entries());
  expect(again.leafId).toBe(store.leafId);
  expect(again.projection()).toMatchObject({ thinkingLevel: "high", model: { provider: "scripted", modelId: "demo" } });
});

it("F1 a session in memory has no file and the same rules", () => {
  const store = createMemoryStore({ cwd });
  const one = store.append(user("one"));
  store.append(assistant("two"));
  store.moveLeaf(one.id);
  expect(store.path).toBeUndefined();
  expect(store.projection().messages).toHaveLength(1);
  expect(store.recording).toEqual({ status: "ok" });
});
