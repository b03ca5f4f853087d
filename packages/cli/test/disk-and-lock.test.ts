import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toolCall, type WireReply, type WireServer, wireServer } from "@tau/llm/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ended, seen, Tau } from "./tau.ts";

let tau: Tau;
let server: WireServer | undefined;
let mounted: string | undefined;
beforeEach(() => {
  tau = new Tau();
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  if (mounted !== undefined) execFileSync("umount", [mounted]);
  mounted = undefined;
  tau.remove();
});

const MODEL = ["--model", "mock/m"];
const answer = (text: string): WireReply => ({ content: [text] });
const bash = (command: string): WireReply => ({ content: [toolCall("bash", { command })] });

async function serve(steps: WireReply[]): Promise<WireServer> {
  server = await wireServer({ steps });
  tau.useServer(server.url);
  return server;
}

function sessionFile(folder: string): string {
  const [name = ""] = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((each) =>
    each.endsWith(".jsonl"),
  );
  return join(folder, name);
}

/** Every line of a session file as JSON; throws for a torn one. */
const entries = (path: string) =>
  readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

/** A file system of 1 MB for the sessions; undefined when this user may not mount one. */
function smallDisk(): string | undefined {
  const folder = join(tau.root, "disk");
  mkdirSync(folder);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], { stdio: "ignore" });
  } catch {
    return undefined;
  }
  mounted = folder;
  return folder;
}

const fill = (folder: string) => `head -c 2000000 /dev/zero > ${folder}/filler; true`;

describe("a full disk", () => {
  it("R107 R108 the run continues, says that nothing is saved, tears no line and offers no resume", async (context) => {
    const disk = smallDisk();
    if (disk === undefined) return context.skip("mounting a small disk needs root");
    const turns = Array.from({ length: 20 }, (_, turn) => bash(`echo turn ${turn}`));
    await serve([bash(fill(disk)), ...turns, answer("all turns ran")]);
    const { code, stdout, stderr } = await tau.run(["-p", ...MODEL, "--session-dir", disk, "go"]);
    expect([code, stdout]).toEqual([1, "all turns ran\n"]);
    expect(stderr).toMatch(/not (being )?saved/);
    expect(stderr).not.toMatch(/--continue|--session| {4}at /);
    const kept = entries(sessionFile(disk));
    expect(kept.length).toBeGreaterThan(2);
    // Room again: what is there is gone on with.
    rmSync(join(disk, "filler"));
    await server?.close();
    await serve([answer("on")]);
    const again = await tau.run(["-p", ...MODEL, "--session-dir", disk, "--continue", "continue"]);
    expect([again.code, again.stdout]).toEqual([0, "on\n"]);
    expect(entries(sessionFile(disk)).length).toBeGreaterThan(kept.length);
    expect(server?.violations).toEqual([]);
  });

  it("R107 writing resumes when there is room again, and nothing is missing from the file", async (context) => {
    const disk = smallDisk();
    if (disk === undefined) return context.skip("mounting a small disk needs root");
    await serve([bash(fill(disk)), bash("seq 3000"), bash(`rm ${disk}/filler`), answer("saved")]);
    const { code, records } = await tau.run(["--mode", "json", ...MODEL, "--session-dir", disk, "go"]);
    expect(code).toBe(0);
    const warnings = records().flatMap(({ type, message }) => (type === "warning" ? [message] : []));
    expect(warnings).toEqual([
      expect.stringContaining("not being saved"),
      expect.stringContaining("being saved again"),
    ]);
    const shown = records().flatMap(({ type, message }) => (type === "message_end" ? [message] : []));
    const file = entries(sessionFile(disk)).flatMap(({ type, message }) => (type === "message" ? [message] : []));
    expect(file.filter(({ role }) => role !== "system")).toEqual(shown);
  });
});

describe("a session file that is taken away", () => {
  it.each([
    ["rm"],
    [": >"],
    ["sed -i 1d"],
    ['away() { mv "$1" "$1.old"; }; away'],
    ['swap() { mv "$1" "$1.old" && cp "$1.old" "$1"; }; swap'],
  ])("F11 R310 by %s: the run continues, says so and ends with code 1", async (steal) => {
    const folder = join(tau.root, "kept");
    await serve([bash(`${steal} ${folder}/*/*.jsonl`), answer("continued")]);
    const { code, stdout, stderr } = await tau.run(["-p", ...MODEL, "--session-dir", folder, "go"]);
    expect([code, stdout]).toEqual([1, "continued\n"]);
    expect(stderr).toMatch(
      /the session is not saved: its file .*\.jsonl was (removed or replaced|moved away|cut short) meanwhile/,
    );
    expect(stderr).not.toMatch(/--continue|--session /);
  });
});

describe("two processes and one session", () => {
  it("R105 the second is refused while the first runs, names it, and neither disturbs the file", async () => {
    await serve([
      answer("seed"),
      bash("until [ -e go ]; do sleep 0.05; done; echo went"),
      answer("first"),
      answer("third"),
    ]);
    await tau.run(["-p", ...MODEL, "seed"]);
    const first = tau.start(["--mode", "json", ...MODEL, "--continue", "first"]);
    const firstEnd = ended(first);
    await seen(first, /tool_execution_start/);
    const second = await tau.run(["-p", ...MODEL, "--continue", "second"]);
    expect([second.code, second.stdout]).toEqual([2, ""]);
    expect(second.stderr).toContain(`by process ${first.pid}`);
    expect(second.stderr).toMatch(/--fork/);
    writeFileSync(join(tau.cwd, "go"), "");
    expect((await firstEnd).code).toBe(0);
    expect((await tau.run(["-p", ...MODEL, "--continue", "third"])).stdout).toBe("third\n");
    server?.assertDone();
    const file = entries(sessionFile(join(tau.tauDir, "sessions")));
    const said = file.flatMap(({ message }) => (message?.role === "user" ? [message.content] : []));
    expect(said).toEqual(["seed", "first", "third"].map((text) => [{ type: "text", text }]));
    const parents = file.slice(1).map(({ parentId }) => parentId);
    expect(parents).toEqual([null, ...file.slice(1, -1).map(({ id }) => id)]);
  });

  it("R105 of two that start at once, both are answered in turn or one is refused; entries never mix", async () => {
    await serve([answer("seed"), ...Array.from({ length: 12 }, () => answer("ok"))]);
    await tau.run(["-p", ...MODEL, "--session-id", "s", "seed"]);
    for (let round = 0; round < 3; round++) {
      const runs = [0, 1].map((each) => tau.run(["-p", ...MODEL, "--session", "s", `round ${round}.${each}`]));
      const codes = (await Promise.all(runs)).map(({ code }) => code);
      expect(codes).toContain(0);
      for (const code of codes) expect([0, 2]).toContain(code);
    }
    const file = entries(sessionFile(join(tau.tauDir, "sessions")));
    expect(file.slice(1).map(({ parentId }) => parentId)).toEqual([null, ...file.slice(1, -1).map(({ id }) => id)]);
    expect(server?.violations).toEqual([]);
  });

  it("F9 of several that start at once with one --session-id, one makes the session", async () => {
    await serve(Array.from({ length: 8 }, () => answer("ok")));
    const elsewhere = tau.home;
    const starts = [tau.cwd, elsewhere, tau.cwd, tau.cwd].map((cwd, each) =>
      tau.run(["-p", ...MODEL, "--session-id", "same", `prompt ${each}`], { cwd }),
    );
    const ends = await Promise.all(starts);
    expect(ends.map(({ code }) => code)).toContain(0);
    for (const { code, stderr } of ends) {
      expect([0, 2]).toContain(code);
      if (code === 2) expect(stderr).toMatch(/is being (begun|written) by process \d+/);
    }
    const names = readdirSync(join(tau.tauDir, "sessions"), { recursive: true, encoding: "utf8" });
    expect(names.filter((name) => /\.jsonl$|\.lock/.test(name))).toEqual([expect.stringMatching(/_same\.jsonl$/)]);
    const again = await tau.run(["-p", ...MODEL, "--session", "same", "on"]);
    expect([again.code, again.stdout]).toEqual([0, "ok\n"]);
    // Two that an older tau made: a longer beginning would not tell them apart.
    const [name = ""] = names.filter((each) => each.endsWith(".jsonl"));
    const folder = join(tau.tauDir, "sessions", name, "..");
    writeFileSync(join(folder, "2001_same.jsonl"), readFileSync(join(tau.tauDir, "sessions", name)));
    const twice = await tau.run(["-p", ...MODEL, "--session", "same", "on"]);
    expect([twice.code, twice.stderr]).toEqual([2, expect.stringMatching(/give the path of one of them: \//)]);
  });

  it("R160 a reader that is gone ends the run and what it started, with exit code 0", async () => {
    await serve([bash("echo $$ > pid; for i in $(seq 200); do echo $i; sleep 0.05; done"), answer("never")]);
    const child = tau.start(["--mode", "json", ...MODEL, "go"]);
    await seen(child, /tool_execution_update/);
    child.stdout?.destroy();
    const { code, signal, stderr } = await ended(child);
    expect([code, signal, stderr]).toEqual([0, null, ""]);
    expect(() => process.kill(Number(readFileSync(join(tau.cwd, "pid"), "utf8")), 0)).toThrow();
    expect(server?.requests).toHaveLength(1);
  });
});
