import { spawn } from "node:child_process";
import { getEventListeners } from "node:events";
import { rmSync, statSync, symlinkSync } from "node:fs";
import { expect, it } from "vitest";
import { replaceFile } from "../../platform/files.ts";
import { ProcessGroups } from "../../platform/process-groups.ts";
import { WriteQueue } from "../../platform/write-queue.ts";
import { filesBench } from "../__fixtures__/files-bench.ts";
import { isAlive, runTool, workbench } from "../__fixtures__/workbench.ts";
import { createBashTool } from "../bash/bash-tool.ts";
import { createGrepTool } from "../grep/grep-tool.ts";
import { createWriteTool } from "../write/write-tool.ts";

it("R335 a lane that joins two keeps all keys of both", async () => {
  const queue = new WriteQueue();
  const order: string[] = [];
  const gates: (() => void)[] = [];
  const held = (keys: string[]) =>
    queue.run(keys, async () => {
      await new Promise<void>((open) => gates.push(open));
      order.push(keys.join());
    });
  const note = (key: string) => queue.run([key], async () => void order.push(key));
  const first = [held(["a", "b"]), held(["c", "d"])];
  const joined = held(["b", "c"]);
  const later = [note("a"), note("d")];
  await Promise.resolve();
  gates.splice(0).forEach((open) => {
    open();
  });
  await Promise.all(first);
  while (gates.length === 0) await new Promise((resolve) => setImmediate(resolve));
  expect(order).toEqual(["a,b", "c,d"]);
  gates[0]?.();
  await Promise.all([joined, ...later]);
  expect(order).toEqual(["a,b", "c,d", "b,c", "a", "d"]);
});

it.each(["another size", "another file of that name", "nothing"])(
  "R335 a file is not replaced when %s is there by now",
  async (what) => {
    const bench = filesBench();
    const path = bench.put("f", "old");
    const expected = statSync(path);
    if (what !== "another size") rmSync(path);
    if (what === "another size") bench.put("f", "longer than before");
    if (what === "another file of that name") bench.put("f", "of somebody else");
    await expect(replaceFile(path, [Buffer.from("new")], { expected })).rejects.toMatchObject({ code: "CHANGED" });
    expect(bench.names()).toEqual(what === "nothing" ? [] : ["f"]);
    if (what !== "nothing") expect(bench.text("f")).not.toBe("new");
  },
);

it("R335 a link is followed again when the turn of its write has come", async () => {
  const bench = filesBench();
  bench.put("one", "1");
  bench.put("two", "2");
  symlinkSync("one", bench.path("link"));
  const tool = createWriteTool(bench.environment);
  const { signal } = new AbortController();
  const first = tool.execute("1", { path: "one", content: "first" }, signal, () => undefined);
  const second = tool.execute("2", { path: "link", content: "second" }, signal, () => undefined);
  rmSync(bench.path("link"));
  symlinkSync("two", bench.path("link"));
  await Promise.all([first, second]);
  expect([bench.text("one"), bench.text("two")]).toEqual(["first", "second"]);
});

it("R335 no listener of a command or a search stays on the signal of the run", async () => {
  const bench = workbench();
  const { signal } = new AbortController();
  await runTool(createBashTool(bench), { command: "true" }, { signal });
  await runTool(createBashTool(bench), { command: "exit 3" }, { signal });
  await runTool(createGrepTool(bench), { pattern: "x" }, { signal });
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

it("R335 the id of a dead group is not killed when somebody else has it now", async () => {
  const stranger = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
  const pid = stranger.pid ?? 0;
  const ended = new Promise((resolve) => stranger.on("exit", resolve));
  try {
    const groups = new ProcessGroups();
    groups.add({ pid, command: "long gone", startedAt: 0 });
    groups.settle(pid, [{ pid, parent: 1, group: pid, session: pid, started: "0" }]);
    await groups.endAll();
    groups.killNow();
    expect(isAlive(pid)).toBe(true);
  } finally {
    stranger.kill("SIGKILL");
    await ended;
  }
});
