import { createSessionStore } from "@tau/host";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Tau } from "./tau.ts";

let tau: Tau;
beforeEach(() => {
  tau = new Tau();
});
afterEach(() => tau.remove());

const usage = (total: number) => ({
  ...{ input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2 },
  cost: { input: 0, output: total, cacheRead: 0, cacheWrite: 0, total },
});

interface Made {
  id: string;
  cwd?: string;
  said: string;
  name?: string;
  cost?: number;
}

function make({ id, cwd = tau.cwd, said, name, cost = 0 }: Made): void {
  const store = createSessionStore({ sessionsDir: `${tau.tauDir}/sessions`, cwd, id });
  store.append({ type: "message", message: { role: "user", content: said, timestamp: 1 } });
  const content = [{ type: "text" as const, text: "an answer about herons" }];
  const from = { api: "a", provider: "p", model: "m", usage: usage(cost), stopReason: "stop" as const, timestamp: 2 };
  store.append({ type: "message", message: { role: "assistant", content, ...from } });
  if (name !== undefined) store.append({ type: "session_info", name });
  store.close();
}

describe("tau sessions", () => {
  beforeEach(() => {
    make({ id: "0199-0000-aaaa11", said: "fix the parser", name: "The parser", cost: 0.25 });
    make({ id: "0199-0000-bbbb11", said: "what is \u001b[31mred\u001b[0m", cwd: "/elsewhere" });
  });

  it("R264 lists the sessions of all folders with a short id, folder, cost and name or first words", async () => {
    const { code, stdout } = await tau.run(["sessions"]);
    const rows = stdout.trimEnd().split("\n");
    expect(code).toBe(0);
    expect(rows[0]).toMatch(/^id +last used +cost +folder +name or first words$/);
    expect(stdout).toMatch(/^aaaa11 +\d{4}-\d\d-\d\d \d\d:\d\d +\$0\.25 +\/.*work +The parser$/m);
    expect(stdout).toMatch(/^bbbb11 .* \/elsewhere +what is red$/m);
    expect(rows).toHaveLength(3);
  });

  it.each([
    ["PARSER", ["aaaa11"]],
    ["elsewhere", ["bbbb11"]],
    ["herons", ["aaaa11", "bbbb11"]],
    ["bbbb11", ["bbbb11"]],
    ["nothing like it", []],
  ])("R264 finds %s in names, folders and what was said", async (search, ids) => {
    const { stdout, stderr, code } = await tau.run(["sessions", ...search.split(" "), "--json"]);
    const found = stdout
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line).shortId);
    expect([code, stderr, found.sort()]).toEqual([0, "", ids]);
  });

  it("R264 a record has what a program needs, and --json belongs to tau sessions", async () => {
    const [record] = (await tau.run(["sessions", "parser", "--json"])).records();
    expect(record).toMatchObject({ id: "0199-0000-aaaa11", name: "The parser", cwd: tau.cwd, cost: 0.25 });
    expect(record.path).toContain("0199-0000-aaaa11.jsonl");
    expect(await tau.run(["--json", "x"])).toMatchObject({ code: 2, stderr: expect.stringContaining("tau sessions") });
  });

  it("R264 an id that somebody chose is shown whole, since its end says nothing", async () => {
    make({ id: "nightly", said: "count the birds" });
    make({ id: "release-2024", said: "count the birds" });
    const { stdout } = await tau.run(["sessions", "count the birds"]);
    const ids = stdout
      .trimEnd()
      .split("\n")
      .slice(1)
      .map((row) => row.split(" ")[0]);
    expect(ids.sort()).toEqual(["nightly", "release-2024"]);
  });

  it("R264 says that there are none", async () => {
    const { code, stdout, stderr } = await tau.run(["sessions", "--session-dir", "empty"]);
    expect([code, stdout, stderr]).toEqual([0, "", `tau: there are no sessions in ${tau.cwd}/empty\n`]);
  });

  it.each(["aaaa11", "the parser", "0199-0000-a"])("R264 --session takes %s", async (query) => {
    expect((await tau.run(["--export", query, "-"])).stdout).toContain("fix the parser");
    const { header } = await continued("--session", query);
    expect(header.id).toBe("0199-0000-aaaa11");
  });

  it("R263 says before anything runs that another folder is worked in", async () => {
    const other = tau.folder("other");
    make({ id: "0199-0000-cccc11", said: "elsewhere", cwd: other });
    const there = await continued("--session", "cccc11");
    expect(there.warnings).toEqual([`the session works in its own folder ${other}, not in ${tau.cwd}`]);
    expect(there.header.cwd).toBe(other);
    const copy = await continued("--fork", "cccc11");
    expect(copy.warnings).toEqual([
      `the copy works in ${tau.cwd}; the session that it was made from works in ${other}`,
    ]);
    expect((await continued("--session", "aaaa11")).warnings).toEqual([]);
    expect((await continued("--fork", "aaaa11")).warnings).toEqual([]);
    const gone = await continued("--session", "bbbb11");
    expect(gone.warnings).toEqual([
      `the folder of the session, /elsewhere, does not exist any more; it works in ${tau.cwd}`,
    ]);
  });
});

/** Header and warnings of a run that continues a session. */
async function continued(...options: string[]) {
  const { stderr, records } = await tau.run(["--mode", "json", "--model", "scripted/demo", ...options, "hello"]);
  const [header, ...events] = records();
  const first = events.findIndex(({ type }) => type !== "warning");
  const warnings = events.slice(0, first).map(({ message }) => message);
  for (const warning of warnings) expect(stderr).toContain(warning);
  return { header, warnings };
}
