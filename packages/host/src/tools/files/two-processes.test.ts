import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../platform/temporary-folder.ts";
import { filesBench, oneEdit } from "../__fixtures__/files-bench.ts";
import { createEditTool } from "../edit/edit-tool.ts";
import { createReadTool } from "../read/read-tool.ts";
import { createWriteTool } from "../write/write-tool.ts";

/** The built tool, since a process of its own runs no TypeScript. */
const EDIT_TOOL = new URL("../../../dist/tools/edit/edit-tool.js", import.meta.url).href;

/** Edits 60 lines and prints the number of each that was reported done. */
const EDITOR = `
const { createEditTool } = await import("${EDIT_TOOL}");
const [, cwd, first] = process.argv;
const settings = { bashTimeoutSeconds: 1 };
const tool = createEditTool({ cwd, homeDir: cwd, env: {}, tauDir: cwd, tempDir: cwd, settings });
for (let line = Number(first); line < Number(first) + 60; line++) {
  const edits = [{ oldText: "line " + line + "\\n", newText: "done " + line + "\\n" }];
  const result = await tool.execute("1", { path: "f", edits }, new AbortController().signal, () => undefined);
  console.log(result.isError ? result.content[0].text : line);
}
`;

it("R241 two processes that edit different lines of one file lose no edit that was reported done", async () => {
  const bench = filesBench();
  const lines = Array.from({ length: 120 }, (_, index) => `line ${index}`);
  bench.put("f", `${lines.join("\n")}\n`);
  const runs = [0, 60].map(async (first) => {
    const args = ["--input-type=module", "-e", EDITOR, bench.cwd, String(first)];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    let done = "";
    child.stdout.on("data", (chunk) => {
      done += chunk;
    });
    await once(child, "close");
    return done.split("\n").filter((line) => line !== "");
  });
  const done = (await Promise.all(runs)).flat();
  expect(done).toHaveLength(120);
  const text = bench.text("f").split("\n");
  for (const index of done) expect(text[Number(index)]).toBe(`done ${index}`);
});

it("R241 a lock whose owner died is taken over", async () => {
  const bench = filesBench();
  const path = bench.put("f", "old");
  const folder = join(temporaryFolder().path, "locks");
  mkdirSync(folder, { recursive: true });
  const name = createHash("sha1").update(path).digest("hex");
  writeFileSync(join(folder, `${name}.lock`), "999999999 0000");
  expect((await bench.run(createWriteTool, { path: "f", content: "new" })).isError).toBe(false);
  expect(readdirSync(folder).filter((each) => each.startsWith(name))).toEqual([]);
});

it("R241 write refuses a file that changed since it was read, and says what changed", async () => {
  const bench = filesBench();
  bench.put("f", "one\ntwo\n");
  await bench.run(createReadTool, { path: "f" });
  bench.put("f", "one\ntwo\nthree, of somebody else\n");
  const refused = await bench.run(createWriteTool, { path: "f", content: "one\n2\n" });
  expect(refused.isError).toBe(true);
  expect(refused.text).toContain("has changed on disk since it was read");
  expect(refused.text).toContain("-three, of somebody else");
  expect(bench.text("f")).toContain("somebody else");
  await bench.run(createReadTool, { path: "f" });
  expect((await bench.run(createWriteTool, { path: "f", content: "one\n2\n" })).isError).toBe(false);
  expect((await bench.run(createWriteTool, { path: "f", content: "again\n" })).isError).toBe(false);
});

it("R244 a key that is masked survives write and edit", async () => {
  const bench = filesBench();
  const key = "sk-0123456789abcdef";
  const environment = { ...bench.environment, mask: <T>(value: T): T => mask(value, key) };
  bench.put(".env", `KEY=${key}\nPORT=1\n`);
  const run = (create: typeof createWriteTool, args: Record<string, unknown>) =>
    bench.run(() => create(environment), args);
  const refusals = [
    await run(createWriteTool, { path: ".env", content: "KEY=[secret]\nPORT=2\n" }),
    await run(createEditTool, oneEdit(".env", "KEY=[secret]\nPORT=1", "KEY=[secret]\nPORT=2")),
    await run(createEditTool, oneEdit(".env", "PORT=1", "OLD=[secret]")),
  ];
  for (const { isError, text } of refusals) {
    expect(isError).toBe(true);
    expect(text).toContain("[secret] stands for a key");
  }
  expect((await run(createEditTool, oneEdit(".env", "PORT=1", "PORT=2"))).isError).toBe(false);
  expect(bench.text(".env")).toBe(`KEY=${key}\nPORT=2\n`);
  bench.put("doc", "It is shown as [secret].\n");
  expect((await run(createWriteTool, { path: "doc", content: "Shown as [secret].\n" })).isError).toBe(false);
});

function mask<T>(value: T, key: string): T {
  return (typeof value === "string" ? value.replaceAll(key, "[secret]") : value) as T;
}

it.each([
  ["lines", "a\nb\nx\na\r\nb\r\n", "a\nb"],
  ["one line with its end", "a\r\nx\na\n", "a\n"],
  ["old Mac line ends", "a\rb\rx\r\na\nb\n", "a\nb"],
])("R246 %s that stand twice and differ in line ends only are ambiguous", async (_what, content, oldText) => {
  const bench = filesBench();
  bench.put("f", content);
  const run = await bench.run(createEditTool, oneEdit("f", oldText, "new\n"));
  expect(run.isError).toBe(true);
  expect(run.text).toContain("ambiguous");
  expect(bench.text("f")).toBe(content);
});
