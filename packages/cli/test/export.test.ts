import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { RpcClient } from "@tau/host";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ended, Tau } from "./tau.ts";

let tau: Tau;
beforeEach(() => {
  tau = new Tau();
});
afterEach(() => tau.remove());

const ID = "019c0000-0000-7000-8000-000000000001";

/** A recorded session of this folder, with a key in it that tau knows. */
function record(messages = 1): string {
  const folder = `home/.tau/sessions/--${tau.cwd.slice(1).replaceAll("/", "-")}--`;
  const lines: object[] = [
    { type: "session", version: 3, id: ID, timestamp: "2026-01-02T03:04:05.000Z", cwd: tau.cwd },
  ];
  for (let n = 0; n < messages; n++) {
    const message = { role: "user", content: `question ${n}: why is sk-live-0123456789 here?`, timestamp: 1 };
    lines.push({ type: "message", id: `m${n}`, parentId: n === 0 ? null : `m${n - 1}`, timestamp: "x", message });
  }
  const text = lines.map((line) => JSON.stringify(line)).join("\n");
  return tau.file(`${folder}/2026-01-02T03-04-05-000Z_${ID}.jsonl`, `${text}\n`);
}

describe("tau --export", () => {
  it("R182 writes a page, says where it is, and warns before it is shared", async () => {
    record();
    const { code, stdout, stderr } = await tau.run(["--export", ID.slice(0, 12)]);
    const path = join(tau.cwd, `2026-01-02T03-04-05-000Z_${ID}.html`);
    expect([code, stdout]).toEqual([0, `${path}\n`]);
    expect(stderr).toMatch(/^tau: exported \d+ kB; it may contain private content[^\n]*\n$/);
    expect(readFileSync(path, "utf8")).toContain("question 0");
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("R143 masks the user's own keys", async () => {
    const session = record();
    const env = { OPENAI_API_KEY: "sk-live-0123456789" };
    const { stdout } = await tau.run(["--export", session, "-"], { env });
    expect(stdout).toContain("why is [secret] here?");
    expect(stdout).not.toContain("sk-live");
  });

  it("writes Markdown by the name of the file, and the page to stdout for -", async () => {
    const session = record();
    const [markdown, page] = await Promise.all([
      tau.run(["--export", session, "notes.md"]),
      tau.run(["--export", session, "-"]),
    ]);
    expect(markdown.stdout).toBe(`${join(tau.cwd, "notes.md")}\n`);
    expect(readFileSync(join(tau.cwd, "notes.md"), "utf8")).toContain("## You");
    expect(page.code).toBe(0);
    expect(page.stdout).toMatch(/^<!doctype html>[\s\S]*<\/html>\n$/);
  });

  it("refuses what it cannot do with one line and exit code 2", async () => {
    const session = record();
    writeFileSync(join(tau.cwd, "mine.html"), "mine");
    const cases: [string[], RegExp][] = [
      [["--export", session, "mine.html"], /mine\.html exists and is not an export of this session/],
      [["--export", session, "none/a.html"], /no such folder/],
      [["--export", session, session], /name of a session/],
      [["--export", "nope"], /there is no session "nope"/],
      [["--export", join(tau.cwd, "mine.html")], /mine\.html is not a session file/],
      [["--export", session, "a", "b"], /takes one session and one file/],
      [["--export", session, "-p"], /cannot go together/],
    ];
    for (const [args, message] of cases) {
      const { code, stdout, stderr } = await tau.run(args);
      expect(stderr).toMatch(message);
      expect(stderr.trimEnd().split("\n")).toHaveLength(1);
      expect([code, stdout]).toEqual([2, ""]);
    }
    expect(readFileSync(join(tau.cwd, "mine.html"), "utf8")).toBe("mine");
  });

  it("is there for RPC clients too", async () => {
    tau.useServer("http://127.0.0.1:1");
    const session = record();
    const child = tau.start(["--mode", "rpc", "--model", "mock/m", "--session", session], { openStdin: true });
    const end = ended(child);
    if (!child.stdin || !child.stdout) throw new Error("no pipes");
    const client = new RpcClient({ input: child.stdin, output: child.stdout });
    const { path } = await client.send("export_html", { outputPath: "page.html" });
    expect(path).toBe(join(tau.cwd, "page.html"));
    expect(readFileSync(path, "utf8")).toContain("question 0");
    writeFileSync(path, "mine");
    await expect(client.send("export_html", { outputPath: "page.html" })).rejects.toThrow(
      "not an export of this session",
    );
    await client.close();
    expect(await end).toMatchObject({ code: 0 });
  });

  it("writes no file under the name of a folder", async () => {
    const { code, stderr } = await tau.run(["--export", record(), "pages/"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("pages/ is the name of a folder; give the name of a")]);
    expect(existsSync(join(tau.cwd, "pages"))).toBe(false);
  });

  it("gives exit code 1 for a disk that is full", async () => {
    const { code, stderr } = await tau.run(["--export", record(), "/dev/full"]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^tau: cannot write \/dev\/full: ENOSPC[^\n]*\n$/)]);
  });

  it("R160 ends quietly when the reader of stdout is gone", async () => {
    const child = tau.start(["--export", record(20_000), "-"]);
    const end = ended(child);
    child.stdout?.once("data", () => child.stdout?.destroy());
    expect(await end).toMatchObject({ code: 0, stderr: "" });
  });

  it("leaves nothing behind when it is interrupted", async () => {
    const child = tau.start(["--export", record(20_000), "-"]);
    const end = ended(child);
    // Not read on until the signal is there: the export is longer than what fits between the two processes.
    child.stdout?.once("data", () => {
      child.stdout?.pause();
      child.kill("SIGINT");
      setImmediate(() => child.stdout?.resume());
    });
    expect(await end).toMatchObject({ code: 130, stderr: "" });
    expect(existsSync(join(tau.cwd, `2026-01-02T03-04-05-000Z_${ID}.html`))).toBe(false);
  });
});
