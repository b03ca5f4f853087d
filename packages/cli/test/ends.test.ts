import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isRunning, listProcesses } from "../../host/src/platform/process-tree.ts";
import { answer, bash, MODEL, testBed } from "./bed.ts";

const bed = testBed();

const lives = (pid: number) => listProcesses().some((entry) => entry.pid === pid && isRunning(entry));

/** A pipe that takes not one more byte. Gives its handle. */
function fullPipe(path: string): number {
  execFileSync("mkfifo", [path]);
  const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const part = Buffer.alloc(4096);
  try {
    for (;;) writeSync(pipe, part);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EAGAIN")) throw error;
  }
  return pipe;
}

describe("the end of the process", () => {
  it("R336 comes after a signal also when nobody reads what is still to be written", { timeout: 20_000 }, async () => {
    const asked = new Promise<void>((resolve) => {
      void bed.serve(() => {
        resolve();
        return answer("many words");
      });
    });
    const pipe = fullPipe(join(bed.tau.root, "pipe"));
    const child = bed.tau.start(["--mode", "json", ...MODEL, "go"], { stdout: pipe });
    await asked;
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    expect(await exited).toEqual([null, "SIGTERM"]);
    closeSync(pipe);
  });

  it("R336 takes along what the tools left running when it is not foreseen", async () => {
    const pidFile = join(bed.tau.cwd, "pid");
    let crash: () => void = () => undefined;
    await bed.serve((_request, index) => {
      if (index === 0) return bash(`sleep 600 >/dev/null 2>&1 & echo $! > ${pidFile}`);
      crash();
      return { content: ["never"], wire: { mode: "no_response" } };
    });
    const preload = bed.tau.file("crash.cjs", 'process.on("SIGUSR2", () => { throw new Error("a bug"); });');
    const child = bed.tau.start(["-p", ...MODEL, "go"], { env: { NODE_OPTIONS: `--require=${preload}` } });
    crash = () => child.kill("SIGUSR2");
    const [code] = await once(child, "exit");
    expect(code).toBe(1);
    expect(lives(Number(readFileSync(pidFile, "utf8")))).toBe(false);
  });
});
