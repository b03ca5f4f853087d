import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { testBed } from "./bed.ts";
import { ended } from "./tau.ts";

const bed = testBed();

/** A key command that waits; its shell and its child write their process ids. */
function useHangingKey(): string {
  const pids = join(bed.tau.root, "pids");
  const apiKey = `!sh -c 'echo $$ >> ${pids}; sleep 333' & echo $$ >> ${pids}; wait`;
  bed.tau.file("home/.tau/models.json", {
    providers: { mock: { baseUrl: "http://127.0.0.1:1/v1", api: "openai-completions", apiKey, models: ["m"] } },
  });
  return pids;
}

function read(path: string): number[] {
  try {
    return readFileSync(path, "utf8").trim().split("\n").map(Number);
  } catch {
    return [];
  }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await wait(10);
}

/** A zombie that nobody has waited for yet counts as ended. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== "linux" || !/\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

describe("a command for a key", () => {
  it.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
    ["SIGHUP", 129],
  ] as const)("R080 ends with tau on %s, with all that it started", async (signal, code) => {
    const pids = useHangingKey();
    const child = bed.tau.start(["-p", "--model", "mock/m", "x"]);
    const end = ended(child);
    await until(() => read(pids).length === 2);
    child.kill(signal);
    expect((await end).code).toBe(code);
    await until(() => !read(pids).some(isRunning));
  });

  it("R080 ends with tau at a time-out", async () => {
    const pids = useHangingKey();
    expect((await bed.tau.run(["-p", "--model", "mock/m", "--timeout", "2", "x"])).code).toBe(3);
    await until(() => !read(pids).some(isRunning));
  });

  it("says what a command that gives no end of output does", async () => {
    bed.tau.file("home/.tau/models.json", {
      providers: {
        mock: { baseUrl: "http://127.0.0.1:1/v1", api: "openai-completions", apiKey: "!yes", models: ["m"] },
      },
    });
    const { code, stderr } = await bed.tau.run(["-p", "--model", "mock/m", "x"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("its output is over 1 MB, which is not a key")]);
  });
});
