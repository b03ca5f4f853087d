import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import { assistant, call, user } from "./__fixtures__/drafts.ts";
import { SessionFileError } from "./errors.ts";
import { forkSession } from "./fork-session.ts";
import { latestSession, listSessions } from "./list-sessions.ts";
import { createSessionStore, openSessionStore } from "./open-session.ts";
import type { SessionStore } from "./session-store.ts";

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tau-load-"));
  path = join(dir, "2026-01-01T00-00-00-000Z_s1.jsonl");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const HEADER = '{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}';
const at = "2026-01-01T00:00:01.000Z";

function line(id: string, parentId: string | null, text: string): string {
  const message = { role: "user", content: text, timestamp: 1 };
  return JSON.stringify({ type: "message", id, parentId, timestamp: at, message });
}

function write(...lines: string[]): void {
  writeFileSync(path, lines.join("\n"));
}

function texts(store: SessionStore): unknown[] {
  return store.projection().messages.map((message) => ("content" in message ? message.content : message.role));
}

function view(): SessionStore {
  return openSessionStore(path, { readOnly: true });
}

it("R099 a torn last line is skipped, reported once, and ended before the next entry, which survives", () => {
  write(HEADER, line("a", null, "one"), '{"type":"mess');
  const before = readFileSync(path);
  const store = openSessionStore(path);
  expect(store.warnings).toHaveLength(1);
  expect(store.warnings[0]).toMatch(/1 damaged line skipped \(the last one is torn\)/);
  expect(readFileSync(path)).toEqual(before);
  store.append(user("two"));
  store.append(user("three"));
  store.close();
  expect(readFileSync(path).subarray(0, before.length)).toEqual(before);
  expect(texts(view())).toEqual(["one", "two", "three"]);
  // On lines of their own, since other readers do not take glued lines apart.
  const added = readFileSync(path, "utf8").trimEnd().split("\n").slice(3);
  expect(added.map((each) => JSON.parse(each).message.content)).toEqual(["two", "three"]);
});

it("R099 a last line that only lacks its end is an entry", () => {
  write(HEADER, line("a", null, "one"), line("b", "a", "two"));
  const store = openSessionStore(path);
  expect(store.warnings).toEqual([]);
  store.append(user("three"));
  store.close();
  expect(texts(view())).toEqual(["one", "two", "three"]);
});

it("R099 an entry that was glued to a torn one is found", () => {
  write(HEADER, line("a", null, "one"), `${line("b", "a", "two").slice(0, -30)}${line("c", "b", "three")}`, "");
  const store = view();
  expect(texts(store)).toEqual(["one", "three"]);
  expect(store.entry("c")?.parentId).toBe("a");
  expect(store.warnings).toHaveLength(1);
});

it("F9 several entries on one line are all read", () => {
  write(
    HEADER,
    `${line("a", null, "{")}${line("b", "a", 'x"}{"type":"')}  ${line("c", "b", "three")}`,
    line("d", "c", "four"),
    "",
  );
  const store = view();
  expect(texts(store)).toEqual(["{", 'x"}{"type":"', "three", "four"]);
  expect(store.warnings).toHaveLength(1);
});

it("F9 a header that is glued to the first entry is read", () => {
  write(`${HEADER}${line("a", null, "one")}`, line("b", "a", "two"), "");
  expect(view().header.id).toBe("s1");
  expect(texts(view())).toEqual(["one", "two"]);
});

it("R100 zero bytes as a line, before an entry or at the end lose nothing else", () => {
  const zeros = "\0".repeat(500);
  write(
    HEADER,
    line("a", null, "one"),
    zeros,
    line("b", "gone", "two"),
    `${zeros}${line("c", "b", "three")}`,
    "\0".repeat(1728),
  );
  const store = openSessionStore(path);
  expect(texts(store)).toEqual(["one", "two", "three"]);
  expect(store.entry("b")?.parentId).toBe("a");
  expect(store.warnings).toHaveLength(1);
  expect(store.warnings[0]).toContain("3 runs of zero bytes");
  store.append(user("four"));
  store.close();
  expect(texts(view())).toEqual(["one", "two", "three", "four"]);
});

it("R104 a bad line in the middle costs that entry alone: the session is listed, opened and linked again", () => {
  const sessions = join(dir, "sessions");
  const made = createSessionStore({ cwd: "/w", sessionsDir: sessions });
  for (const text of ["one", "two", "three"]) made.append(user(text));
  made.close();
  path = made.path ?? "";
  const lines = readFileSync(path, "utf8").split("\n");
  lines[2] = lines[2]?.slice(0, (lines[2]?.length ?? 0) / 2) ?? "";
  writeFileSync(path, lines.join("\n"));
  expect(listSessions(sessions, { cwd: "/w" }).map((summary) => summary.path)).toEqual([path]);
  expect(latestSession(sessions, "/w")).toBe(path);
  const store = view();
  expect(texts(store)).toEqual(["one", "three"]);
  expect(store.warnings[0]).toMatch(/1 damaged line skipped, 1 entry linked/);
});

it("F9 the child of a lost entry goes to its grandparent where the lost line still names it", () => {
  write(
    HEADER,
    line("a", null, "one"),
    line("b", "a", "two"),
    line("x", "a", "lost").slice(0, 90),
    line("c", "b", "other"),
    line("d", "x", "child"),
    "",
  );
  const store = view();
  expect(texts(store)).toEqual(["one", "child"]);
  expect(store.branch("c").map((entry) => entry.id)).toEqual(["a", "b", "c"]);
});

it("R102 lines end at LF alone, and odd separators and half surrogates survive", () => {
  const odd = "a\u2028b\u2029c\u0085d\re\u000bf";
  const store = createSessionStore({ cwd: "/w", sessionsDir: dir });
  store.append(user(odd));
  store.append(assistant("x \ud83d y", call("c1", { "k\udc00": "\ud83d\ude00 \udead" })));
  store.close();
  const bytes = readFileSync(store.path ?? "", "utf8");
  expect(bytes.split("\n")).toHaveLength(4);
  expect(bytes).not.toMatch(/[\u2028\u2029\u0085]|\\ud[89a-f]/);
  const again = openSessionStore(store.path ?? "", { readOnly: true });
  expect(texts(again)[0]).toBe(odd);
  expect(again.projection().messages[1]).toMatchObject({
    content: [{ text: "x \ufffd y" }, { arguments: { "k\ufffd": "\ud83d\ude00 \ufffd" } }],
  });
  expect(again.entries()).toEqual(store.entries());
  writeFileSync(path, `${HEADER}\r\n${line("a", null, odd)}\r\n`);
  expect(texts(view())).toEqual([odd]);
});

it("R102 a 20 MB session with an entry of 1.7 MB opens", () => {
  const big = "\u2028 é".repeat(400_000);
  const lines = Array.from({ length: 2_000 }, (_, i) =>
    line(`i${i}`, i === 0 ? null : `i${i - 1}`, i === 1_000 ? big : "x".repeat(9_000)),
  );
  write(HEADER, ...lines, "");
  const store = view();
  expect(store.projection().messages).toHaveLength(2_000);
  expect(texts(store)[1_000]).toBe(big);
  expect(store.warnings).toEqual([]);
});

it("R103 calls without object arguments are tolerated on load and never written", () => {
  for (const args of [null, "text", 3, [1], undefined]) {
    const content = [{ type: "toolCall", id: "c", name: "bash", arguments: args }, null];
    const message = {
      role: "assistant",
      content,
      api: "a",
      provider: "p",
      model: "m",
      stopReason: "toolUse",
      timestamp: 1,
    };
    write(HEADER, JSON.stringify({ type: "message", id: "a", parentId: null, timestamp: at, message }), "");
    const [shown] = view().projection().messages;
    expect(shown).toMatchObject({
      content: [{ type: "toolCall", id: "c", arguments: {} }],
      usage: { cost: { total: 0 } },
    });
    const store = createSessionStore({ cwd: "/w", sessionsDir: join(dir, String(args)) });
    store.append({ type: "message", message: message as never });
    store.close();
    expect(readFileSync(store.path ?? "", "utf8")).toContain('"arguments":{}');
  }
});

it("F9 messages of a wrong shape do not reach anyone", () => {
  const bodies = ['"message":null', '"message":{}', '"message":"x"', '"nothing":1'];
  const bad = bodies.map((body, i) => `{"type":"message","id":"b${i}","parentId":"a","timestamp":"${at}",${body}}`);
  const odd = [
    { role: "user", timestamp: 1 },
    { role: "assistant", content: "said", timestamp: 1 },
    { role: "toolResult", toolCallId: "c", toolName: "t", content: null, isError: false, timestamp: 1 },
  ].map((message, i) =>
    JSON.stringify({ type: "message", id: `o${i}`, parentId: i === 0 ? "a" : `o${i - 1}`, timestamp: at, message }),
  );
  write(HEADER, line("a", null, "one"), ...bad, ...odd, "[1]", "null", "7", "");
  const store = view();
  expect(texts(store)).toEqual(["one", "", [{ type: "text", text: "said" }], []]);
  expect(store.warnings[0]).toContain("7 damaged lines");
});

it("F9 missing and double ids, parents that come later, circles and several roots are read without end or crash", () => {
  const entry = (id: unknown, parentId: unknown, text: string) =>
    JSON.stringify({
      type: "message",
      id,
      parentId,
      timestamp: at,
      message: { role: "user", content: text, timestamp: 1 },
    });
  write(
    HEADER,
    entry("a", "b", "1"),
    entry("b", "a", "2"),
    entry("b", "b", "3"),
    entry(undefined, "b", "4"),
    entry("", null, "5"),
    entry("z", "z", "6"),
    entry("r", null, "7"),
    entry("s", 5, "8"),
    "",
  );
  const store = view();
  expect(store.entries()).toHaveLength(8);
  const ids = store.entries().map((each) => each.id);
  expect(new Set(ids).size).toBe(8);
  expect(store.branch(ids[3]).map((each) => spokenBy(each))).toEqual(["1", "2", "3", "4"]);
  expect(texts(store)).toEqual(["7", "8"]);
  expect(
    view()
      .entries()
      .map((each) => each.id),
  ).toEqual(ids);
});

function spokenBy(entry: ReturnType<SessionStore["entries"]>[number]): unknown {
  return entry.type === "message" && "content" in entry.message ? entry.message.content : undefined;
}

it("F9 a file without its header is rescued with a warning, a file with nothing in it is refused", () => {
  write(line("a", null, "one"), line("b", "a", "two"), "");
  const store = openSessionStore(path, { readOnly: true, cwd: "/assumed" });
  expect(store.header).toMatchObject({ id: "s1", cwd: "/assumed", timestamp: at });
  expect(store.warnings[0]).toContain("header is missing");
  expect(texts(store)).toEqual(["one", "two"]);
  for (const text of ["", "\n\n", "hello", "\0\0\0", "# title\n"]) {
    writeFileSync(path, text);
    expect(() => view()).toThrow(SessionFileError);
  }
  expect(() => openSessionStore(join(dir, "none.jsonl"))).toThrow(/there is no session file/);
  expect(() => openSessionStore(dir)).toThrow(SessionFileError);
});

it("F9 a byte-order mark, empty lines and a second header do no harm", () => {
  write(`\ufeff${HEADER}`, "", line("a", null, "one"), HEADER.replace("s1", "s2"), "  ", line("b", "a", "two"), "");
  const store = view();
  expect(store.header.id).toBe("s1");
  expect(texts(store)).toEqual(["one", "two"]);
});

it("F1 version 1, a list without ids, is read as a chain with the same ids each time", () => {
  const message = (text: string) =>
    JSON.stringify({ type: "message", timestamp: at, message: { role: "user", content: text, timestamp: 1 } });
  write(
    '{"type":"session","id":"s1","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/w"}',
    message("one"),
    message("two"),
    message("three"),
    JSON.stringify({ type: "compaction", timestamp: at, summary: "s", firstKeptEntryIndex: 3, tokensBefore: 9 }),
    message("four"),
    "",
  );
  const store = openSessionStore(path);
  expect(store.warnings).toEqual([]);
  expect(store.header.version).toBe(3);
  expect(texts(store)).toEqual(["compactionSummary", "three", "four"]);
  const ids = store.entries().map((entry) => entry.id);
  store.append(user("five"));
  store.close();
  expect(
    view()
      .entries()
      .map((entry) => entry.id)
      .slice(0, 5),
  ).toEqual(ids);
  expect(texts(view())).toEqual(["compactionSummary", "three", "four", "five"]);
});

it("F1 version 2 had another role for the messages of extensions", () => {
  const message = { role: "hookMessage", customType: "x", content: "note", display: true, timestamp: 1 };
  write(
    HEADER.replace("3", "2"),
    JSON.stringify({ type: "message", id: "a", parentId: null, timestamp: at, message }),
    "",
  );
  expect(view().projection().messages).toEqual([{ ...message, role: "custom" }]);
});

it("F6 edits are read as pi writes them and as the content itself", () => {
  const edit = (id: string, parentId: string, rest: string) =>
    `{"type":"context_edit","id":"${id}","parentId":"${parentId}","timestamp":"${at}","targetId":"a",${rest}}`;
  const bodies = ['"replacement":{"content":"x"}', '"replacement":"x"', '"replacement":[{"type":"text","text":"x"}]'];
  for (const body of bodies) {
    write(HEADER, line("a", null, "one"), edit("e", "a", body), edit("f", "e", '"replacement":{}'), "");
    expect(JSON.stringify(texts(view()))).toMatch(/^\[("x"|\[\{"type":"text","text":"x"\}\])\]$/);
  }
  write(HEADER, line("a", null, "one"), edit("e", "a", '"replacement":null'), "");
  expect(texts(view())).toEqual([]);
});

it("F7 entries of unknown types are kept in the tree and shown to nobody", () => {
  write(
    HEADER,
    line("a", null, "one"),
    `{"type":"future","id":"f","parentId":"a","timestamp":"${at}","x":1}`,
    line("b", "f", "two"),
    "",
  );
  const store = view();
  expect(store.entry("f")).toMatchObject({ type: "future", x: 1 });
  expect(texts(store)).toEqual(["one", "two"]);
  expect(store.warnings).toEqual([]);
});

it("F9 whatever happens to the bytes, whole lines that are left are read and nothing is overwritten", () => {
  const lines = [
    HEADER,
    ...Array.from({ length: 8 }, (_, i) => line(`e${i}`, i === 0 ? null : `e${i - 1}`, `text ${i} é "{}`)),
  ];
  const whole = Buffer.from(`${lines.join("\n")}\n`);
  const damage = fc.record({
    at: fc.nat(whole.length - 1),
    length: fc.nat(200),
    kind: fc.constantFrom("cut", "zero", "noise"),
  });
  fc.assert(
    fc.property(fc.array(damage, { maxLength: 3 }), (damages) => {
      const bytes = damages.reduce(harm, whole);
      writeFileSync(path, bytes);
      const intact = bytes
        .toString()
        .split("\n")
        .filter((text) => lines.slice(1).includes(text));
      let store: SessionStore;
      try {
        store = openSessionStore(path);
      } catch (error) {
        expect(error).toBeInstanceOf(SessionFileError);
        expect(intact).toEqual([]);
        return;
      }
      const read = store.entries().map((entry) => spokenBy(entry));
      for (const text of intact) expect(read).toContain(spokenBy(JSON.parse(text)));
      expect(store.warnings.length).toBeLessThanOrEqual(1);
      const added = store.append(user("after"));
      store.close();
      expect(readFileSync(path).subarray(0, bytes.length).equals(bytes)).toBe(true);
      expect(view().entry(added.id)).toEqual(added);
      expect(view().leafId).toBe(added.id);
    }),
    { numRuns: 100 },
  );
});

function harm(bytes: Buffer, { at: from, length, kind }: { at: number; length: number; kind: string }): Buffer {
  const end = Math.min(bytes.length, from + length);
  const middle = {
    cut: Buffer.alloc(0),
    zero: Buffer.alloc(Math.max(0, end - from)),
    noise: Buffer.from('}{"type":"\n\\"'),
  }[kind];
  return Buffer.concat([bytes.subarray(0, from), middle ?? Buffer.alloc(0), bytes.subarray(end)]);
}

it("F9 a hostile line costs no more than its length times a constant", () => {
  write(HEADER, line("a", null, "one"), '{"type":"'.repeat(50_000), line("b", "a", "two"), "");
  expect(texts(view())).toEqual(["one", "two"]);
});

it("F1 a newer version is read as far as it is known, with a warning, and never written to", () => {
  write(HEADER.replace('"version":3', '"version":99'), line("a", null, "hello"), "");
  const before = readFileSync(path);
  expect(() => openSessionStore(path)).toThrow(expect.objectContaining({ code: "newer_version" }));
  const store = view();
  expect(texts(store)).toEqual(["hello"]);
  expect(store.warnings).toEqual([expect.stringContaining("version 99 of the session format and this tau knows 3")]);
  const copy = forkSession({ from: path, cwd: "/w" });
  expect([texts(copy), copy.header.version]).toEqual([["hello"], 3]);
  expect(readFileSync(path)).toEqual(before);
});
