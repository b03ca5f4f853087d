import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runTool, type Workbench, workbench } from "../__fixtures__/workbench.ts";
import { createLsTool } from "./ls-tool.ts";

function folder(): Workbench {
  const bench = workbench();
  mkdirSync(join(bench.cwd, "src"));
  for (const name of ["b.txt", ".env", "src/parser.ts", "a\nb"]) writeFileSync(join(bench.cwd, name), "12345");
  symlinkSync("src", join(bench.cwd, "link"));
  symlinkSync("nowhere", join(bench.cwd, "lost"));
  return bench;
}

function ls(bench: Workbench, args: Record<string, unknown> = {}) {
  return runTool(createLsTool(bench), args);
}

describe("ls", () => {
  it("R091 lists names sorted, dotfiles too, with marks for folders and links", async () => {
    expect((await ls(folder())).text).toBe(".env\na\\nb\nb.txt\nlink -> src/\nlost -> nowhere (dangling)\nsrc/");
  });

  it("lists a file as itself", async () => {
    expect((await ls(folder(), { path: "b.txt" })).text).toBe("b.txt (5 bytes; not a folder)");
  });

  it("says so when a folder is empty", async () => {
    expect((await ls(workbench())).text).toBe("(empty folder)");
  });

  it("limits the names and says how many there are", async () => {
    const run = await ls(folder(), { limit: 2 });
    expect(run.text).toBe(".env\na\\nb\n\n[the first 2 of 6 names; give a limit, or use find with a pattern]");
    expect(run.details).toMatchObject({ shown: 2, total: 6 });
  });

  it("names what is near when a path is missing", async () => {
    const run = await ls(folder(), { path: "srcs" });
    expect(run.isError).toBe(true);
    expect(run.text).toMatch(/srcs does not exist.*src/);
  });
});
