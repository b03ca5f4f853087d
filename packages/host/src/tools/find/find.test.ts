import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { runTool, type Workbench, workbench } from "../__fixtures__/workbench.ts";
import { createFindTool } from "./find-tool.ts";

function files(names: readonly string[], gitignore = ""): Workbench {
  const bench = workbench();
  for (const name of names) {
    mkdirSync(dirname(join(bench.cwd, name)), { recursive: true });
    writeFileSync(join(bench.cwd, name), "");
  }
  if (gitignore) writeFileSync(join(bench.cwd, ".gitignore"), gitignore);
  return bench;
}

async function find(bench: Workbench, args: Record<string, unknown>): Promise<string[]> {
  return (await runTool(createFindTool(bench), args)).text.split("\n");
}

const TREE = [
  ".eslintrc.json",
  ".github/workflows/ci.yml",
  ".git/config",
  "node_modules/a/package.json",
  "package.json",
  "scripts/run.sh",
  "src/a.ts",
  "src/deep/b.ts",
  "src/deep/c.js",
];
const IGNORE = "node_modules\nscripts/*\n";

describe("find", () => {
  it.each([
    ["app/[slug]/*.tsx", ["app/[slug]/page.tsx"]],
    ["app/[s]/*.tsx", ["app/s/page.tsx"]],
    ["**/[slug]/page.*", ["app/[slug]/page.tsx"]],
    ["app/[...all]/*", ["app/[...all]/page.tsx"]],
    ["[ab].ts", ["[ab].ts"]],
    ["[bc].ts", ["b.ts", "c.ts"]],
    ["{{cookiecutter.slug}}/*.py", ["{{cookiecutter.slug}}/main.py"]],
    ["{{cookiecutter.slug}}", ["{{cookiecutter.slug}}/"]],
    ["{a,b}.py", ["{a,b}.py"]],
    ["{b,c}.ts", ["b.ts", "c.ts"]],
    ["{x}.py", ["x.py"]],
  ])("R233 %s is the literal name when it exists, else the glob", async (pattern, expected) => {
    const names = ["app/[slug]/page.tsx", "app/s/page.tsx", "app/[...all]/page.tsx", "a.ts", "b.ts", "c.ts", "[ab].ts"];
    const more = ["{{cookiecutter.slug}}/main.py", "{a,b}.py", "a.py", "b.py", "x.py"];
    expect(await find(files([...names, ...more]), { pattern })).toEqual(expected);
  });

  it("R231 ignore rules above a repository have no say in it", async () => {
    const bench = files(["in/project/.git/HEAD", "in/project/a.ts", "in/project/b.log", "in/.gitignore"]);
    writeFileSync(join(bench.cwd, "in/.gitignore"), "*");
    writeFileSync(join(bench.cwd, "in/project/.gitignore"), "*.log");
    const project = { ...bench, cwd: join(bench.cwd, "in/project") };
    expect(await find(project, { pattern: "*.ts" })).toEqual(["a.ts"]);
    expect((await find(project, { pattern: "*.log" }))[0]).toContain("No files match");
    const submodule = files(["vendor/lib/a.ts", "vendor/lib/.git"], "vendor/");
    expect(await find({ ...submodule, cwd: join(submodule.cwd, "vendor/lib") }, { pattern: "*.ts" })).toEqual(["a.ts"]);
  });

  it.each([
    ["*.ts", ["src/a.ts", "src/deep/b.ts"]],
    ["src/*.ts", ["src/a.ts"]],
    ["src/**/*.{ts,js}", ["src/a.ts", "src/deep/b.ts", "src/deep/c.js"]],
    ["**/deep/*", ["src/deep/b.ts", "src/deep/c.js"]],
    ["deep/*.ts", ["src/deep/b.ts"]],
    ["deep", ["src/deep/"]],
    ["?.js", ["src/deep/c.js"]],
    ["[ab].ts", ["src/a.ts", "src/deep/b.ts"]],
  ])("%s gives sorted paths relative to the working directory", async (pattern, expected) => {
    expect(await find(files(TREE), { pattern })).toEqual(expected);
  });

  it.each([
    [".eslintrc.json", ".eslintrc.json"],
    [".github/**", ".github/workflows/"],
    [".github/workflows/*.yml", ".github/workflows/ci.yml"],
    ["*.yml", ".github/workflows/ci.yml"],
  ])("R091 %s matches names that start with a dot", async (pattern, expected) => {
    expect(await find(files(TREE), { pattern })).toContain(expected);
  });

  it("shows paths outside of the working directory whole, with one slash at the end of a folder", async () => {
    const bench = files(["in/cwd/a.ts", "in/cwd/..b/c.ts", "in/other/b.ts", "in/c.ts", "top.ts"]);
    const above = join(bench.cwd, "in");
    const inner = { ...bench, cwd: join(above, "cwd") };
    expect(await find(inner, { pattern: "../*" })).toEqual(["./", `${above}/c.ts`, `${above}/other/`]);
    expect(await find(inner, { pattern: "../../*" })).toEqual([`${above}/`, `${bench.cwd}/top.ts`]);
    for (const pattern of ["../other", "../other/", `${above}/other/`])
      expect(await find(inner, { pattern })).toEqual([`${above}/other/`]);
    expect(await find(inner, { pattern: ".." })).toEqual([`${above}/`]);
    expect(await find(inner, { pattern: "/" })).toEqual(["/"]);
    expect(await find(inner, { pattern: "*", path: "../other/" })).toEqual([`${above}/other/b.ts`]);
    expect(await find(inner, { pattern: "c.ts" })).toEqual(["..b/c.ts"]);
  });

  it("R090 an exact path or a named folder is found although it is ignored", async () => {
    const bench = files(TREE, IGNORE);
    expect(await find(bench, { pattern: "node_modules/a/package.json" })).toEqual(["node_modules/a/package.json"]);
    expect(await find(bench, { pattern: "node_modules/**/*.json" })).toEqual(["node_modules/a/package.json"]);
    expect(await find(bench, { pattern: "scripts/*.sh" })).toEqual(["Skipped by ignore rules:", "scripts/run.sh"]);
    expect(await find(bench, { pattern: "*", path: "scripts" })).toEqual([
      "Skipped by ignore rules:",
      "scripts/run.sh",
    ]);
    expect(await find(bench, { pattern: ".git/*" })).toContain(".git/config");
  });

  it("R090 says what ignore rules skip", async () => {
    const bench = files(TREE, IGNORE);
    expect(await find(bench, { pattern: "*.sh" })).toEqual([
      "No files match *.sh in the working directory.",
      "[ignore rules skip 1 path that would match: scripts/run.sh. Name the folder to list them]",
    ]);
    expect(await find(bench, { pattern: "package.json" })).toEqual([
      "package.json",
      "[ignore rules skip 1 path that would match: node_modules/a/package.json. Name the folder to list them]",
    ]);
  });

  it("leaves out git's own files", async () => {
    expect(await find(files(TREE), { pattern: "config" })).toEqual(["No files match config in the working directory."]);
  });

  it("limits the paths and says how many there are", async () => {
    const bench = files(Array.from({ length: 30 }, (_, i) => `f${i}.txt`));
    const lines = await find(bench, { pattern: "*.txt", limit: 10 });
    expect(lines).toHaveLength(11);
    expect(lines.at(-1)).toBe("[10 of 30 paths. Narrow the pattern, or give a limit]");
  });

  it("shows odd names on one line", async () => {
    expect(await find(files(["a\nb\x1b[2J.txt", "c d.txt"]), { pattern: "*.txt" })).toEqual([
      "a\\nb\\x1b[2J.txt",
      "c d.txt",
    ]);
  });

  it.each([
    [{ pattern: "x", path: "src/a.ts" }, /src\/a\.ts is a file/],
    [{ pattern: "x", path: "srcs" }, /srcs does not exist.*src/],
    [{ pattern: " " }, /empty/],
  ])("refuses %o", async (args, message) => {
    const run = await runTool(createFindTool(files(TREE)), args);
    expect(run.isError).toBe(true);
    expect(run.text).toMatch(message);
  });

  it("an abort ends the search", async () => {
    const run = await runTool(createFindTool(files(TREE)), { pattern: "*" }, { signal: AbortSignal.abort() });
    expect(run).toMatchObject({ text: "Aborted.", isError: true });
  });
});
