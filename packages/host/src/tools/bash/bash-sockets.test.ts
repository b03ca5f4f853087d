import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { outputPipes } from "../../platform/output-pipe.ts";
import { isAlive, runTool, workbench } from "../__fixtures__/workbench.ts";
import { createBashTool } from "./bash-tool.ts";

const { open } = outputPipes;

// Where there are no pipes by name (not on Linux, no mkfifo), commands write into sockets.
describe("bash over sockets", () => {
  beforeAll(() => {
    outputPipes.open = async () => undefined;
  });
  afterAll(() => {
    outputPipes.open = open;
  });

  const bash = (command: string, timeout = 30, bench = workbench()) =>
    runTool(createBashTool(bench), { command, timeout });

  it("gives output and exit code", async () => {
    expect(await bash("echo a; echo b >&2; exit 2")).toMatchObject({ text: "a\nb\n\n[exit code 2]", isError: true });
  });

  it.each(["sleep 600 & echo $! >pid; echo done", "yes & echo $! >pid; echo done"])(
    "R070 returns when the shell ends: %s",
    async (command) => {
      const bench = workbench();
      const run = await bash(command, 30, bench);
      expect(run.text).toContain("done");
      const pid = Number(readFileSync(join(bench.cwd, "pid"), "utf8"));
      expect(run.details.background).toContain(pid);
      expect(isAlive(pid)).toBe(true);
    },
  );

  it("R073 R087 ends a flood at the time-out", async () => {
    const run = await bash("yes", 0.5);
    expect(run.text).toMatch(/bytes left out here[\s\S]*timed out after 0.5 s/);
  });
});
