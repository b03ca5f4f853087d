import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSessionStore, openSessionStore } from "../store/open-session.ts";
import type { SessionStore } from "../store/session-store.ts";
import { memorySession, reply, say } from "./__fixtures__/sessions.ts";
import { exportSession } from "./export-session.ts";

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "tau-export-"));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

/** A session of one question and its answer, in a file. */
function recorded(id = "abc"): SessionStore {
  const sessionsDir = join(cwd, "sessions");
  const store = createSessionStore({ sessionsDir, cwd, id, now: () => Date.parse("2026-02-03T04:05:06Z") });
  say(store, "question");
  reply(store, "answer");
  return store;
}

const read = (name: string): string => readFileSync(join(cwd, name), "utf8");
const leftovers = (): string[] => readdirSync(cwd).filter((name) => name.endsWith(".tmp"));

describe("exportSession", () => {
  it("writes a page under the session's name, for its owner only", async () => {
    const store = recorded();
    const result = await exportSession({ from: store.path ?? "", cwd });
    const name = "2026-02-03T04-05-06-000Z_abc.html";
    expect(result).toMatchObject({ path: join(cwd, name), format: "html", warnings: [] });
    expect(read(name)).toContain("<p>answer</p>");
    expect(Buffer.byteLength(read(name))).toBe(result.bytes);
    expect(statSync(join(cwd, name)).mode & 0o777).toBe(0o600);
    expect(leftovers()).toEqual([]);
    store.close();
  });

  it("writes Markdown for .md, into a folder under the session's name, and into a sink", async () => {
    const store = recorded();
    mkdirSync(join(cwd, "out"));
    expect((await exportSession({ from: store, to: "notes.md", cwd })).format).toBe("markdown");
    expect(read("notes.md")).toContain("## You");
    const inFolder = await exportSession({ from: store, to: "out", format: "markdown", cwd });
    expect(inFolder.path).toBe(join(cwd, "out", "2026-02-03T04-05-06-000Z_abc.md"));
    mkdirSync(join(cwd, "out.d"));
    for (const [to, name] of [
      ["out.d", "out.d/2026-02-03T04-05-06-000Z_abc.html"],
      ["page", "page"],
      ["old.HTM", "old.HTM"],
    ] as const)
      expect(await exportSession({ from: store, to, cwd })).toMatchObject({ path: join(cwd, name), format: "html" });
    const pieces: string[] = [];
    const poured = await exportSession({ from: store, cwd, to: (piece) => void pieces.push(piece) });
    const text = pieces.join("");
    expect(poured).toMatchObject({ path: undefined, bytes: Buffer.byteLength(text) });
    expect(text).toMatch(/^<!doctype html>[\s\S]*<\/html>\n$/);
    store.close();
  });

  it("exports a session in memory, under a name of the same kind", async () => {
    const store = memorySession();
    say(store, "x");
    const { path } = await exportSession({ from: store, cwd });
    expect(path).toMatch(/2026-03-04T09-0\d-00-000Z_session-1\.html$/);
  });

  it("looks only: a session that is being written can be exported, and stays as it is", async () => {
    const store = recorded();
    const path = store.path ?? "";
    const before = readFileSync(path);
    await exportSession({ from: path, to: "a.html", cwd });
    expect(readFileSync(path)).toEqual(before);
    say(store, "more");
    await exportSession({ from: store, to: "a.html", cwd });
    expect(read("a.html")).toContain("<p>more</p>");
    store.close();
    openSessionStore(path).close();
  });

  it("replaces an earlier export of the same session, and nothing else", async () => {
    const store = recorded();
    const other = recorded("other");
    writeFileSync(join(cwd, "mine.html"), "<p>mine</p>");
    await exportSession({ from: other, to: "other.md", cwd });
    await expect(exportSession({ from: store, to: "mine.html", cwd })).rejects.toMatchObject({
      name: "ExportError",
      code: "exists",
      message: expect.stringContaining("choose another name"),
    });
    await expect(exportSession({ from: store, to: "other.md", cwd })).rejects.toMatchObject({ code: "exists" });
    expect(read("mine.html")).toBe("<p>mine</p>");
    await exportSession({ from: store, to: "page.html", cwd });
    await exportSession({ from: store, to: "page.html", cwd });
    await exportSession({ from: store, to: "mine.html", overwrite: true, cwd });
    expect(read("mine.html")).toContain("<p>answer</p>");
    expect(leftovers()).toEqual([]);
    store.close();
    other.close();
  });

  it("writes through a link, and to a device", async () => {
    const store = recorded();
    await exportSession({ from: store, to: "real.html", cwd });
    symlinkSync("real.html", join(cwd, "link.html"));
    reply(store, "later");
    await exportSession({ from: store, to: "link.html", cwd });
    expect(read("real.html")).toContain("<p>later</p>");
    expect((await exportSession({ from: store, to: "/dev/null", cwd })).path).toBe("/dev/null");
    store.close();
  });

  it("says what is wrong with a place, and leaves nothing behind", async () => {
    const store = recorded();
    const refuse = (to: string, more: object) =>
      expect(exportSession({ from: store, to, cwd })).rejects.toMatchObject(more);
    await refuse("none/a.html", { code: "bad_target", message: expect.stringContaining("no such folder") });
    await refuse(store.path ?? "", { code: "bad_target", message: expect.stringContaining("name of a session") });
    for (const name of ["out.pdf", "page.HTMLX", "notes.txt"])
      await refuse(name, {
        code: "bad_target",
        message: expect.stringContaining("end the name in .html for a page or in .md"),
      });
    await refuse(`${"n".repeat(300)}.html`, { code: "bad_target" });
    await refuse("/dev/full", { code: "unwritable", message: expect.stringContaining("ENOSPC") });
    await expect(exportSession({ from: "none.jsonl", cwd })).rejects.toMatchObject({ code: "not_found" });
    expect(leftovers()).toEqual([]);
    store.close();
  });

  it("lets timers and signals in between two pieces that a sink takes at once", async () => {
    const store = recorded();
    for (let n = 0; n < 4; n++) say(store, "long ".repeat(40_000));
    const stop = new AbortController();
    let pieces = 0;
    const to = () => {
      pieces++;
      setImmediate(() => stop.abort());
    };
    await expect(exportSession({ from: store, cwd, to, signal: stop.signal })).rejects.toMatchObject({
      name: "AbortError",
    });
    expect(pieces).toBe(1);
    store.close();
  });

  it("stops when it is told to, and leaves nothing behind", async () => {
    const store = recorded();
    const stop = new AbortController();
    let pieces = 0;
    const counted = exportSession({
      from: store,
      cwd,
      signal: stop.signal,
      to: () => {
        pieces++;
        stop.abort();
      },
    });
    await counted;
    expect(pieces).toBe(1);
    await expect(exportSession({ from: store, to: "a.html", cwd, signal: stop.signal })).rejects.toMatchObject({
      name: "AbortError",
    });
    expect(existsSync(join(cwd, "a.html"))).toBe(false);
    expect(leftovers()).toEqual([]);
    store.close();
  });

  it("F9 hands on what was damaged", async () => {
    const path = join(cwd, "torn.jsonl");
    const store = recorded();
    writeFileSync(path, `${readFileSync(store.path ?? "", "utf8")}{"type":"mess`);
    store.close();
    const { warnings } = await exportSession({ from: path, to: "torn.html", cwd });
    expect(warnings).toEqual([expect.stringContaining("the last one is torn")]);
    expect(read("torn.html")).toContain("the last one is torn");
    await exportSession({ from: path, to: "torn.md", cwd });
    expect(read("torn.md")).toContain("> Warning:");
  });
});
