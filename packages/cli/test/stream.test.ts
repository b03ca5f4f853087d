import { execFile, spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { WireReply } from "@tau/llm/testing";
import { describe, expect, it } from "vitest";
import { answer, bash, MODEL, testBed } from "./bed.ts";
import { COMMAND, ended, seen } from "./tau.ts";

const bed = testBed();

describe("JSON mode", () => {
  it("R176 writes the header and then events only, agent_settled last", async () => {
    await bed.serve([bash("echo hi"), answer("done")]);
    bed.tau.file("home/.tau/settings.json", { steeringMode: "wrong" });
    const { code, stderr, records } = await bed.tau.run(["--mode", "json", ...MODEL, "x"]);
    const types = records().map(({ type }) => type);
    expect(code).toBe(0);
    expect(records()[0]).toMatchObject({ type: "session", version: 3, cwd: bed.tau.cwd });
    expect(types.filter((type) => ["agent_start", "agent_end", "agent_settled"].includes(type))).toEqual([
      "agent_start",
      "agent_end",
      "agent_settled",
    ]);
    expect(types.at(-1)).toBe("agent_settled");
    expect(
      records()
        .filter(({ type }) => type === "message_end")
        .map(({ message }) => message.role),
    ).toEqual(["user", "assistant", "toolResult", "assistant"]);
    for (const { type, message, assistantMessageEvent } of records()) {
      if (type === "message_update") expect([message, assistantMessageEvent.partial]).toEqual([undefined, undefined]);
    }
    expect(stderr).toContain('"steeringMode" must be one of');
  });

  it("R174 escapes what some readers take for line ends", async () => {
    const odd = "a\u2028b\u2029c\u0085d\re";
    await bed.serve([bash("printf 'x\\xe2\\x80\\xa8y\\xc2\\x85z\\r.\\0'"), answer(odd)]);
    const { stdout, records } = await bed.tau.run(["--mode", "json", ...MODEL, odd]);
    expect(stdout).not.toMatch(/[\u2028\u2029\u0085\r\0]/);
    const ends = records()
      .filter(({ type }) => type === "message_end")
      .map(({ message }) => message);
    expect(JSON.stringify(ends[0])).toContain("a\u2028b\u2029c\u0085d\\re");
    expect(ends[3].content[0].text).toBe(odd);
  });

  it("R175 R181 R184 has one error record and one agent_settled, and a line on stderr, when the API fails or cuts the stream", async () => {
    const cut: WireReply = { content: ["half of it"], wire: { mode: "reset", afterDeltas: 1 } };
    bed.tau.file("home/.tau/settings.json", { retry: { maxRetries: 1, baseDelayMs: 1 } });
    await bed.serve([bash("true"), cut, cut]);
    const { code, stderr, records } = await bed.tau.run(["--mode", "json", ...MODEL, "x"]);
    const types = records().map(({ type }) => type);
    expect(code).toBe(1);
    expect(types.slice(-2)).toEqual(["error", "agent_settled"]);
    expect(types.filter((type) => type === "agent_settled")).toHaveLength(1);
    expect(types.filter((type) => type === "error")).toHaveLength(1);
    expect(types).toContain("auto_retry_start");
    expect(records().at(-2)).toMatchObject({ exitCode: 1 });
    expect(stderr).toBe(`tau: ${records().at(-2).message}\n`);
  });
});

describe("limits and signals", () => {
  it("R191 --max-turns ends with exit code 3, and the session continues afterwards", async () => {
    let calls = 0;
    await bed.serve(() => (++calls > 3 ? answer("finished") : bash(`echo ${calls}`)));
    const { code, stderr } = await bed.tau.run(["-p", ...MODEL, "--max-turns", "3", "loop"]);
    expect([code, calls]).toEqual([3, 3]);
    expect(stderr).toMatch(/^tau: Stopped: the limit of 3 turns is reached[^\n]*\n$/);
    const next = await bed.tau.run(["-p", ...MODEL, "--continue", "continue"]);
    expect([next.code, next.stdout]).toEqual([0, "finished\n"]);
  });

  it("R191 --max-cost and --timeout end with exit code 3", async () => {
    let calls = 0;
    await bed.serve(() => bash(`echo ${++calls}`), {
      cost: { input: 1000, output: 1000, cacheRead: 0, cacheWrite: 0 },
    });
    const cost = await bed.tau.run(["-p", ...MODEL, "--max-cost", "0.01", "loop"]);
    expect([cost.code, calls]).toEqual([3, 1]);
    const json = await bed.tau.run(["--mode", "json", ...MODEL, "--timeout", "0.5", "--max-cost", "1000", "loop"]);
    expect(json.code).toBe(3);
    expect(json.records().at(-2)).toMatchObject({ type: "error", limit: "timeout", exitCode: 3 });
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)(
    "R080 %s ends the run and all it started with exit code %i, and the session is kept",
    async (signal, expected) => {
      await bed.serve([bash("echo pid=$$.; sleep 1000 & sleep 1000"), answer("never")]);
      const child = bed.tau.start(["--mode", "json", ...MODEL, "x"]);
      const end = ended(child);
      const [, pid] = /pid=(\d+)\./.exec(await seen(child, /pid=\d+\./)) ?? [];
      child.kill(signal);
      const { code, signal: death, records } = await end;
      expect(code).toBe(expected);
      expect(death).toBe(signal);
      expect(records().at(-1)).toMatchObject({ type: "agent_settled", aborted: true });
      const { stdout: left } = await promisify(execFile)("ps", ["-eo", "pgid,args"]);
      expect(
        left.split("\n").filter((line) => line.trim().startsWith(`${pid} `) && !line.includes("<defunct>")),
      ).toEqual([]);
      expect(readFileSync(bed.sessionFiles()[0] ?? "", "utf8")).toContain('"toolResult"');
    },
  );
});

it("R261 a loop of the shell stops with the run that Ctrl-C ends", async () => {
  await bed.serve([bash("echo started; sleep 1000"), answer("never"), answer("never")]);
  const command = `for i in 1 2 3; do "${process.execPath}" "${COMMAND}" --mode json --model mock/m x; echo "after $i"; done`;
  const { HOME, PATH } = { HOME: bed.tau.home, PATH: "/usr/bin:/bin" };
  const env = { HOME, PATH, TAU_OFFLINE: "1" };
  const child = spawn("bash", ["-c", command], {
    cwd: bed.tau.cwd,
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const end = ended(child);
  await seen(child, /tool_execution_update.*started/);
  process.kill(-(child.pid ?? 0), "SIGINT");
  const { signal, stdout } = await end;
  expect(signal).toBe("SIGINT");
  expect(stdout).not.toContain("after");
  expect(stdout.match(/"type":"session"/g)).toHaveLength(1);
});

describe("demo", () => {
  it("fixes the sample project with the real tools and keeps the session", async () => {
    mkdirSync(join(bed.tau.root, "tmp"));
    const { code, stdout } = await bed.tau.run(["demo"], { env: { TMPDIR: join(bed.tau.root, "tmp") } });
    expect(stdout).toMatch(/Its test: \d passed, 1 failed/);
    expect(stdout).toMatch(/The test now: \d passed, 0 failed/);
    expect(stdout).toContain("ANTHROPIC_API_KEY");
    expect(code).toBe(0);
    expect(bed.sessionFiles()).toHaveLength(1);
  });
});
