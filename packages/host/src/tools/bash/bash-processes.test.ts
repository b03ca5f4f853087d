import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isAlive, runTool, until, type Workbench, workbench } from "../__fixtures__/workbench.ts";
import { createBashTool } from "./bash-tool.ts";

function bash(command: string, bench: Workbench, timeout?: number) {
  return runTool(createBashTool(bench), timeout === undefined ? { command } : { command, timeout });
}

/** Pids that a command wrote to a file, one a line, once there are `count`. */
async function pidsIn(bench: Workbench, file: string, count: number): Promise<number[]> {
  const read = () => (existsSync(join(bench.cwd, file)) ? readFileSync(join(bench.cwd, file), "utf8") : "");
  await until(() => read().split("\n").length > count);
  return read().trim().split("\n").map(Number);
}

async function allGone(pids: readonly number[]): Promise<void> {
  await until(() => pids.every((pid) => !isAlive(pid)));
}

// A child that ignores SIGTERM, one in a session of its own, one whose parent has gone: none may outlive the command.
const FAMILY = [
  "trap '' TERM",
  "(trap '' TERM; echo $BASHPID >>pids; while :; do read -t 60 <> <(:); done) &",
  "setsid bash -c 'echo $$ >>pids; trap \"\" TERM; while :; do echo y; read -t 0.05 <> <(:); done' &",
  "(sleep 600 & echo $! >>pids)",
  "(setsid bash -c 'echo $$ >>pids; exec sleep 600' &)",
  "echo $$ >>pids; wait; sleep 600",
].join("\n");

/** Living `sleep` processes that work in the directory. */
function sleepersOf(cwd: string): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0 && workingDirectory(pid) === cwd && isSleep(pid));
}

function isSleep(pid: number): boolean {
  return isAlive(pid) && readFileSync(`/proc/${pid}/comm`, "utf8") === "sleep\n";
}

function workingDirectory(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    // Ended meanwhile.
    return undefined;
  }
}

describe("bash: the end of a command", () => {
  it("R017 an abort ends all descendants, also those that ignore SIGTERM or left the group", async () => {
    const bench = workbench();
    const abort = new AbortController();
    const running = runTool(createBashTool(bench), { command: FAMILY }, { signal: abort.signal });
    const pids = await pidsIn(bench, "pids", 5);
    abort.abort();
    const run = await running;
    expect(run).toMatchObject({ isError: true, details: { end: "abort" } });
    expect(run.text).toMatch(/\[aborted, killed\]$/);
    await allGone(pids);
    expect(bench.processes.list()).toEqual([]);
  });

  it("R017 an aborted call starts nothing", async () => {
    const bench = workbench();
    const run = await runTool(createBashTool(bench), { command: "touch ran" }, { signal: AbortSignal.abort() });
    expect(run.isError).toBe(true);
    expect(existsSync(join(bench.cwd, "ran"))).toBe(false);
  });

  it("R086 keeps the output from before a time-out and says what happened", async () => {
    const run = await bash("echo BEFORE; sleep 30", workbench(), 0.5);
    expect(run.text).toMatch(/^BEFORE\n\n\[timed out after 0.5 s, killed/);
    expect(run).toMatchObject({ isError: true, details: { end: "timeout" } });
    expect(run.details.exitCode).toBeUndefined();
  });

  it("R079 has a default time limit for what never ends, and shows its output so far", async () => {
    const run = await bash("echo serving; exec sleep 600", workbench({ bashTimeoutSeconds: 0.5 }));
    expect(run.text).toMatch(/^serving\n\n\[timed out after 0.5 s, killed.*with & /);
  });

  it.each([
    ["a pipe", "echo $$ >>pids; sleep 100 | tee x"],
    ["a grandchild in a session of its own that keeps writing", FAMILY],
  ])("R087 a time-out ends the call with %s", async (_name, command) => {
    const bench = workbench();
    const run = await bash(command, bench, 0.7);
    expect(run.details.end).toBe("timeout");
    await allGone(await pidsIn(bench, "pids", 1));
  });

  it.each([
    ["is silent", "sleep 600 & echo $! >pids; echo done"],
    ["keeps writing", "(while :; do echo x; sleep 0.02; done) & echo $! >pids; echo done"],
    ["floods", "yes & echo $! >pids; echo done"],
    ["is under nohup", "nohup sleep 600 & echo $! >pids; echo done"],
    ["has a session of its own", "setsid sleep 600 & echo $! >pids; echo done"],
  ])("R070 returns when the shell ends while a child holds the pipe and %s", async (_name, command) => {
    const bench = workbench();
    const run = await bash(command, bench);
    const [pid = 0] = await pidsIn(bench, "pids", 1);
    expect(run.text).toContain("done");
    expect(run.isError).toBe(false);
    expect(run.details.background).toContain(pid);
    expect(run.text).toMatch(new RegExp(`still running in the background[^;]*\\b${pid}\\b`));
    expect(isAlive(pid)).toBe(true);
    expect(Number(run.details.outputBytes)).toBeLessThan(10 * 1024 * 1024);
  });

  it("R070 what a background process writes later is in its file and not in the result", async () => {
    const bench = workbench();
    const run = await bash("mkfifo gate; (read x <gate; echo late; read x <gate) & echo done", bench);
    expect(run.text).not.toContain("late");
    execFileSync("bash", ["-c", "echo go >gate"], { cwd: bench.cwd });
    const file = String(run.details.outputFile);
    expect(run.text).toContain(`; further output: ${file}]`);
    await until(() => readFileSync(file, "utf8") === "done\nlate\n");
  });

  it("R070 takes the output of helpers that end just after the shell", async () => {
    expect((await bash("echo hello > >(sed s/h/j/)", workbench())).text).toBe("jello");
  });

  it("R089 what runs on is in a list with its pids and is ended with the session", async () => {
    const bench = workbench();
    await bash("sleep 600 >log 2>&1 & echo $! >pids", bench);
    const pids = await pidsIn(bench, "pids", 1);
    const [group] = bench.processes.list();
    expect(group?.background?.map(({ pid }) => pid)).toEqual(pids);
    expect(group?.command).toContain("sleep 600");
    await bench.processes.dispose();
    await allGone(pids);
  });

  it("R089 what has ended since is no longer in the list", async () => {
    const bench = workbench();
    await bash("sleep 600 & echo $! >pids", bench);
    const [pid = 0] = await pidsIn(bench, "pids", 1);
    process.kill(pid);
    await allGone([pid]);
    expect(bench.processes.list()).toEqual([]);
  });

  it.each(["dispose", "killNow"] as const)(
    "R080 the end of the session by %s ends running commands and all below",
    async (how) => {
      const bench = workbench();
      const running = bash(FAMILY, bench);
      await bash("sleep 600 & echo $! >>pids", bench);
      const pids = await pidsIn(bench, "pids", 5);
      await bench.processes[how]();
      await allGone(pids);
      expect((await running).isError).toBe(true);
      expect((await bash("echo more", bench)).isError).toBe(true);
    },
  );

  it.each([
    ["in the background", "setsid sleep 600 >/dev/null 2>&1 & echo ok"],
    ["in a subshell", "(setsid sleep 600 >/dev/null 2>&1 &); echo ok"],
    ["by setsid -f", "setsid -f sleep 600 >/dev/null 2>&1; echo ok"],
    ["twice", "setsid -f setsid -f sleep 600 >/dev/null 2>&1; echo ok"],
    ["after the shell ended", "setsid -f bash -c 'read -t 0.05 <> <(:); setsid -f sleep 600' >/dev/null 2>&1; echo ok"],
  ])("R089 what moved to a session and an output of its own %s is named and ended", async (_name, command) => {
    const bench = workbench();
    const run = await bash(command, bench);
    const named = (run.details.background ?? []) as number[];
    expect(run.text).toMatch(new RegExp(`^ok\n\n\\[still running in the background.*: pid .*\\b${named[0]}\\b`));
    await until(() => sleepersOf(bench.cwd).length === 1);
    expect(bench.processes.list()).toHaveLength(1);
    await bench.processes.dispose();
    await until(() => sleepersOf(bench.cwd).length === 0);
  });

  it("R087 a time-out ends what moved away, and nothing of another command", async () => {
    const bench = workbench();
    await bash("setsid -f sleep 600 >/dev/null 2>&1", bench);
    const [other] = sleepersOf(bench.cwd);
    const run = await bash("setsid -f sleep 600 >/dev/null 2>&1; sleep 30", bench, 0.5);
    expect(run.details.end).toBe("timeout");
    expect(sleepersOf(bench.cwd)).toEqual([other]);
  });

  it("leaves alone what moved away and took the mark of its command off", async () => {
    const bench = workbench();
    const run = await bash("env -u TAU_COMMAND setsid -f sleep 600 >/dev/null 2>&1; echo ok", bench);
    expect(run.text).toBe("ok");
    await bench.processes.dispose();
    const [pid = 0] = sleepersOf(bench.cwd);
    expect(isAlive(pid)).toBe(true);
    process.kill(pid, "SIGKILL");
  });

  it("R075 a command is the first to go when memory runs out, and the result names SIGKILL", async () => {
    const bench = workbench();
    expect((await bash("cat /proc/self/oom_score_adj", bench)).text).toBe("500");
    const run = await bash("kill -KILL $$", bench);
    expect(run.text).toBe("[exit code 137: SIGKILL, perhaps out of memory]");
  });
});
