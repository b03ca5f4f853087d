import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { assistant, user } from "./__fixtures__/drafts.ts";
import type { EntryDraft } from "./entries.ts";
import { forkSession } from "./fork-session.ts";
import { findSession, latestSession, listSessions } from "./list-sessions.ts";
import { createSessionStore } from "./open-session.ts";
import { idOfFileName, isSessionId, newSessionId, sessionDirectory } from "./paths.ts";

let dir: string;
let clock: number;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tau-list-"));
  clock = Date.UTC(2026, 0, 1);
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Makes a session; each is a minute newer than the one before. */
function make({ id, cwd = "/w" }: { id: string; cwd?: string }, ...drafts: EntryDraft[]): string {
  clock += 60_000;
  const store = createSessionStore({ cwd, sessionsDir: dir, id, now: () => clock });
  for (const draft of drafts) store.append(draft);
  store.close();
  touch(store.path ?? "");
  return store.path ?? "";
}

function touch(path: string): void {
  utimesSync(path, clock / 1000, clock / 1000);
}

const system: EntryDraft = { type: "message", message: { role: "system", content: "p".repeat(40_000), timestamp: 0 } };

it("R169 a list has header, first message, name and end of each session, the newest first", () => {
  make({ id: "one" }, system, { type: "session_info", name: "old" }, user("  Do\nthis "), assistant("done"), {
    type: "session_info",
    name: "Name",
  });
  make({ id: "two", cwd: "/other" }, user("x".repeat(500)), assistant(""));
  expect(listSessions(dir, { cwd: "/w" })).toEqual([
    {
      path: expect.stringContaining("--w--"),
      id: "one",
      cwd: "/w",
      created: new Date(clock - 60_000).toISOString(),
      modified: clock - 60_000,
      size: expect.any(Number),
      name: "Name",
      firstMessage: "Do this",
      lastMessage: "done",
    },
  ]);
  const all = listSessions(dir);
  expect(all.map((summary) => summary.id)).toEqual(["two", "one"]);
  expect(all[0]?.firstMessage).toHaveLength(200);
  expect(listSessions(join(dir, "nowhere"))).toEqual([]);
});

it("R169 neither a list nor the latest session reads large files whole", () => {
  // A file of 100 GB, nearly all of it a hole: whoever reads it to its end does not come back.
  const huge = make({ id: "huge" }, user("start"), { type: "session_info", name: "kept" });
  truncateSync(huge, 100 * 1024 ** 3);
  appendFileSync(
    huge,
    `\n${JSON.stringify({ type: "message", id: "z", parentId: null, timestamp: "t", message: { role: "user", content: "end", timestamp: 1 } })}\n`,
  );
  touch(huge);
  for (let i = 0; i < 50; i++) make({ id: `small${i}` }, user(`m${i}`));
  const summaries = listSessions(dir, { cwd: "/w" });
  expect(summaries).toHaveLength(51);
  expect(summaries.at(-1)).toMatchObject({ id: "huge", firstMessage: "start", lastMessage: "end", name: "kept" });
  expect(latestSession(dir, "/w")).toBe(summaries[0]?.path);
  expect(findSession(dir, "small4", "/w")).toMatchObject({ status: "found" });
});

it("R169 a name in the middle of a file is found", () => {
  const filler = Array.from({ length: 100 }, (_, i) => user(`${i} ${"é".repeat(2_000)}`));
  make(
    { id: "mid" },
    user("a"),
    { type: "session_info", name: "first" },
    ...filler,
    { type: "session_info", name: "second" },
    ...filler,
    user('"type":"session_info"'),
    ...filler,
  );
  expect(listSessions(dir)[0]?.name).toBe("second");
});

it("R169 a first message with a large image shows its text", () => {
  const content = [
    { type: "text" as const, text: 'What is "this"?' },
    { type: "image" as const, data: "A".repeat(2_000_000), mimeType: "image/png" },
  ];
  make({ id: "img" }, system, { type: "message", message: { role: "user", content, timestamp: 1 } });
  expect(listSessions(dir)[0]?.firstMessage).toBe('What is "this"?');
});

it("R104 damaged sessions are in the list, files that are none are not", () => {
  const headless = make({ id: "headless" }, user("a"), user("b"));
  writeFileSync(
    headless,
    '{"type":"sess\n{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"still here","timestamp":1}}\n',
  );
  const folder = dirname(headless);
  writeFileSync(join(folder, "empty.jsonl"), "");
  writeFileSync(join(folder, "other.jsonl"), "hello\n");
  mkdirSync(join(folder, "folder.jsonl"));
  writeFileSync(join(dir, "stray"), "");
  expect(listSessions(dir, { cwd: "/w" })).toMatchObject([{ id: "headless", firstMessage: "still here" }]);
  expect(latestSession(dir, "/w")).toBe(headless);
});

it("F1 two working directories that share a folder name do not share sessions", () => {
  expect(sessionDirectory(dir, "/a/b-c")).toBe(sessionDirectory(dir, "/a-b/c"));
  const one = make({ id: "one", cwd: "/a/b-c" }, user("1"));
  const two = make({ id: "two", cwd: "/a-b/c" }, user("2"));
  expect(latestSession(dir, "/a/b-c")).toBe(one);
  expect(latestSession(dir, "/a-b/c/")).toBe(two);
  expect(listSessions(dir, { cwd: "/a/b-c" }).map((summary) => summary.id)).toEqual(["one"]);
  expect(latestSession(dir, "/new")).toBeUndefined();
});

it("F1 a session is found by path, by id, by the beginning of an id, here before elsewhere", () => {
  const abc = make({ id: "abc1" }, user("1"));
  const abd = make({ id: "abd2" }, user("2"));
  const far = make({ id: "abc1x", cwd: "/far" }, user("3"));
  const exact = make({ id: "ab", cwd: "/far" }, user("4"));
  const found = (path: string) => ({ status: "found", path });
  expect(findSession(dir, abc, "/w")).toEqual(found(abc));
  expect(findSession(dir, "../--far--/x.jsonl", dirname(abc))).toEqual({ status: "none" });
  expect(findSession(dir, `./${abc.slice(dirname(abc).length + 1)}`, dirname(abc))).toEqual(found(abc));
  expect(findSession(dir, "abc1", "/w")).toEqual(found(abc));
  expect(findSession(dir, "abc", "/w")).toEqual(found(abc));
  expect(findSession(dir, "abc", "/far")).toEqual(found(far));
  expect(findSession(dir, "ab", "/w")).toEqual(found(exact));
  expect(findSession(dir, "a", "/w")).toEqual({ status: "ambiguous", paths: [abd, abc] });
  expect(findSession(dir, "zzz", "/w")).toEqual({ status: "none" });
  expect(findSession(dir, "", "/w")).toEqual({ status: "none" });
  const renamed = join(dirname(abc), "kept.jsonl");
  writeFileSync(
    renamed,
    '{"type":"session","version":3,"id":"inside-1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}\n',
  );
  expect(findSession(dir, "inside", "/w")).toEqual(found(renamed));
});

it("F1 names of folders and files follow the format", () => {
  expect(sessionDirectory("/s", "/home/me/a:b\\c")).toBe("/s/--home-me-a-b-c--");
  expect(sessionDirectory("/s", "/")).toBe("/s/----");
  const long = ["x", "y"].map((end) => sessionDirectory("/s", `/${"é/".repeat(400)}${end}`));
  expect(long[0]).not.toBe(long[1]);
  for (const path of long) expect(Buffer.byteLength(path.slice(3))).toBeLessThanOrEqual(255);
  expect(idOfFileName("2026-11-01T00-00-00-000Z_a_b.jsonl")).toBe("a_b");
  for (const id of ["", ".", "..", "../x", "a/b", "-x", "a ", "x".repeat(200), "a\0"])
    expect(isSessionId(id)).toBe(false);
  for (const id of ["a", "my-session", "v1.2_x", newSessionId(Date.now())]) expect(isSessionId(id)).toBe(true);
  expect(() => createSessionStore({ cwd: "/w", sessionsDir: dir, id: "../evil" })).toThrow(/cannot be a session id/);
  const [a, b] = [newSessionId(1), newSessionId(Date.UTC(2026, 0))];
  expect(a).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(a < b).toBe(true);
});

it("R264 a session is found by the end of its id and by its display name", () => {
  const first = make({ id: "0199-aaaa-c0ffee" }, user("x"), { type: "session_info", name: "The parser" });
  const second = make({ id: "0199-aaaa-c0ffed", cwd: "/other" }, user("y"));
  make({ id: "c0ffee-begins" }, user("z"));
  expect(findSession(dir, "a-c0ffee", "/w")).toEqual({ status: "found", path: first });
  expect(findSession(dir, "ffed", "/w")).toEqual({ status: "found", path: second });
  expect(findSession(dir, "the PARSER", "/w")).toEqual({ status: "found", path: first });
  expect(findSession(dir, "c0ffee", "/w")).toMatchObject({ status: "found", path: expect.stringContaining("begins") });
  expect(findSession(dir, "parser", "/w")).toEqual({ status: "none" });
});

/** An entry's line with a time of its own. */
function line(timestamp: string, content: unknown = "later"): string {
  return `${JSON.stringify({ type: "message", id: "5ec0ad00", parentId: null, timestamp, message: { role: "user", content, timestamp: 1 } })}\n`;
}

const LATER = "2026-06-01T00:00:00.000Z";
const image = [{ type: "image", data: "A".repeat(3_000_000), mimeType: "image/png" }];

it.each<[string, (older: string, newer: string) => void]>([
  ["touched", (older) => utimesSync(older, new Date(), new Date())],
  [
    "touched, and the newer one given an old date",
    (older, newer) => {
      utimesSync(older, new Date(), new Date());
      utimesSync(newer, 0, 0);
    },
  ],
  ["copied over itself", (older) => renameSync(copyOf(older), older)],
  ["given a torn line", (older) => appendFileSync(older, line(LATER).slice(0, 100))],
  ["given a last line that is not an entry", (older) => appendFileSync(older, '{"timestamp":7}\n[1]\nhello\n\n')],
  ["given zeros, as a power loss does", (older) => appendFileSync(older, Buffer.alloc(20_000))],
  ["given a time that is none", (older) => appendFileSync(older, line("t"))],
  [
    "given an entry that says a later time in its words",
    (older) => appendFileSync(older, line("2026-01-01T00:01:30.000Z", `"timestamp":"${LATER}"`)),
  ],
  ["given an entry after the clock was set back", (older) => appendFileSync(older, line("2001-01-01T00:00:00.000Z"))],
])("R220 the latest session is the one with the newest entry, also when an older one was %s", (_name, disturb) => {
  const older = make({ id: "older" }, user("one"));
  const newer = make({ id: "newer" }, user("two"));
  disturb(older, newer);
  expect(latestSession(dir, "/w")).toBe(newer);
  expect(listSessions(dir).map(({ id }) => id)).toEqual(["newer", "older"]);
  expect(listSessions(dir).map(({ modified }) => modified)).toEqual([clock, expect.any(Number)]);
  expect(findSession(dir, "e", "/w")).toEqual({ status: "none" });
});

it.each<[string, unknown]>([
  ["short", "later"],
  ["with a large image", image],
])("R220 an older session becomes the latest by an entry, %s, and not by the date of its file", (_name, content) => {
  const older = make({ id: "older" }, user("one"));
  make({ id: "newer" }, user("two"));
  appendFileSync(older, line(LATER, content));
  utimesSync(older, 0, 0);
  expect(latestSession(dir, "/w")).toBe(older);
  expect(listSessions(dir)[0]).toMatchObject({ id: "older", modified: Date.parse(LATER) });
});

it("R220 a copy that was made of an old session counts from when it was made", () => {
  const old = make({ id: "old" }, user("one"));
  make({ id: "between" }, user("two"));
  clock += 60_000;
  forkSession({ from: old, sessionsDir: dir, cwd: "/w", id: "copy", write: "now", now: () => clock }).close();
  expect(listSessions(dir).map(({ id }) => id)).toEqual(["copy", "between", "old"]);
});

it("R220 a session that is there by several names is one in the list, and no name of it is ambiguous", () => {
  const path = make({ id: "real-1" }, user("one"));
  symlinkSync(path, join(dirname(path), "a-link.jsonl"));
  symlinkSync(path, join(dirname(path), "z_real-1.jsonl"));
  symlinkSync(dirname(path), join(dir, "--alias--"));
  symlinkSync("nowhere", join(dirname(path), "dangling.jsonl"));
  expect(listSessions(dir).map((session) => session.path)).toEqual([path]);
  expect(latestSession(dir, "/w")).toBe(path);
  expect(findSession(dir, "real-1", "/w")).toEqual({ status: "found", path });
});

it("R220 a link to a session that is kept elsewhere is a session of the folder", () => {
  const here = make({ id: "here" }, user("one"));
  const kept = join(dir, "kept-elsewhere");
  clock += 60_000;
  const store = createSessionStore({ cwd: "/w", sessionsDir: kept, id: "far", now: () => clock });
  store.append(user("two"));
  store.close();
  const link = join(dirname(here), "linked.jsonl");
  symlinkSync(store.path ?? "", link);
  expect(latestSession(dir, "/w")).toBe(link);
  expect(listSessions(dir, { cwd: "/w" }).map(({ id }) => id)).toEqual(["far", "here"]);
});

function copyOf(path: string): string {
  copyFileSync(path, `${path}.copy`);
  return `${path}.copy`;
}
