import { linkSync, mkdirSync, symlinkSync } from "node:fs";
import fc from "fast-check";
import { expect, it } from "vitest";
import { filesBench, oneEdit, runFileTool } from "../tools/__fixtures__/files-bench.ts";
import { createEditTool } from "../tools/edit/edit-tool.ts";
import { createWriteTool } from "../tools/write/write-tool.ts";
import { WriteQueue } from "./write-queue.ts";

/** A promise with its key. */
function gate(): { promise: Promise<void>; open: () => void } {
  const keys: (() => void)[] = [];
  const promise = new Promise<void>((resolve) => {
    keys.push(resolve);
  });
  return { promise, open: () => keys[0]?.() };
}

it("G5 tasks on one file run one after another in the order of their calls, whatever fails", async () => {
  const queue = new WriteQueue();
  const log: string[] = [];
  const task =
    (name: string, fails = false) =>
    async () => {
      log.push(`${name} starts`);
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    };
  const results = await Promise.allSettled([
    queue.run(["f"], task("a")),
    queue.run(["f"], task("b", true)),
    queue.run(["f"], task("c")),
  ]);
  expect(log).toEqual(["a starts", "a ends", "b starts", "b ends", "c starts", "c ends"]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
});

it("G5 tasks on different files run side by side", async () => {
  const queue = new WriteQueue();
  const first = gate();
  const held = queue.run(["f"], () => first.promise);
  await queue.run(["g"], async () => undefined);
  first.open();
  await held;
});

it("G5 a file that is known by several keys is one file", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uniqueArray(fc.constantFrom("a", "b", "c", "d"), { minLength: 1, maxLength: 3 }), { maxLength: 12 }),
      async (calls) => {
        const queue = new WriteQueue();
        const running = new Set<string>();
        const order: number[] = [];
        await Promise.all(
          calls.map((keys, index) =>
            queue.run(keys, async () => {
              for (const key of keys) expect(running.has(key)).toBe(false);
              for (const key of keys) running.add(key);
              await new Promise((resolve) => setImmediate(resolve));
              for (const key of keys) running.delete(key);
              order.push(index);
            }),
          ),
        );
        for (const [first, keys] of calls.entries()) {
          for (let second = first + 1; second < calls.length; second++) {
            if (!calls[second]?.some((key) => keys.includes(key))) continue;
            expect(order.indexOf(first)).toBeLessThan(order.indexOf(second));
          }
        }
      },
    ),
    { numRuns: 200 },
  );
});

const SIX = Array.from({ length: 6 }, (_, index) => `line ${index + 1}.`);

it("R061 six edits of one file at once, by several of its names, all survive", async () => {
  const bench = filesBench();
  bench.put("dir/f", `${SIX.join("\n")}\n`);
  symlinkSync("dir/f", bench.path("link"));
  symlinkSync("dir", bench.path("folder"));
  const paths = ["dir/f", "./dir/f", "link", "folder/f", "dir/../dir/f", bench.path("dir/f")];
  const tool = createEditTool(bench.environment);
  const runs = await Promise.all(
    paths.map((path, index) => runFileTool(tool, oneEdit(path, `line ${index + 1}.`, `edited ${index + 1}.`))),
  );
  expect(runs.map(({ isError }) => isError)).toEqual(paths.map(() => false));
  expect(bench.text("dir/f")).toBe(SIX.map((line) => `${line.replace("line", "edited")}\n`).join(""));
});

it("R061 hard links are one file", async () => {
  const bench = filesBench();
  bench.put("a", `${SIX.join("\n")}\n`);
  linkSync(bench.path("a"), bench.path("b"));
  const tool = createEditTool(bench.environment);
  const runs = SIX.map((line, index) => runFileTool(tool, oneEdit(index % 2 ? "a" : "b", line, `edited ${index}`)));
  expect((await Promise.all(runs)).some(({ isError }) => isError)).toBe(false);
  expect(bench.text("a")).toBe(SIX.map((_, index) => `edited ${index}\n`).join(""));
});

it("R061 calls take effect in their order, also across tools, sessions and files that do not exist yet", async () => {
  const bench = filesBench();
  mkdirSync(bench.path("dir"));
  symlinkSync("dir/new", bench.path("dangling"));
  const write = createWriteTool(bench.environment);
  const edit = createEditTool({ ...bench.environment });
  const runs = await Promise.all([
    runFileTool(write, { path: "dir/new", content: "one" }),
    runFileTool(edit, oneEdit("dangling", "one", "two")),
    runFileTool(write, { path: "dangling", content: "three" }),
    runFileTool(edit, oneEdit("dir/new", "three", "four")),
  ]);
  expect(runs.map(({ text }) => text)).toEqual(runs.filter(({ isError }) => !isError).map(({ text }) => text));
  expect(bench.text("dir/new")).toBe("four");
});
