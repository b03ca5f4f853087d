import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HookBus } from "../hooks/hook-bus.ts";
import { ContextFileCollector } from "../prompt/context-files.ts";
import { NestedContext } from "../prompt/nested-context.ts";
import type { RunEnding } from "../session/run/outcome.ts";
import { createBuiltinTools } from "../tools/builtin.ts";
import { ToolRegistry } from "../tools/registry.ts";
import { nestedContextRow } from "./nested-context-row.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "tau-row-")));
  for (const folder of ["a", "a/b", "~"]) mkdirSync(join(root, folder));
  for (const folder of ["a", "a/b"]) writeFileSync(join(root, folder, "AGENTS.md"), `rules of ${folder}`);
  writeFileSync(join(root, "a/b/file.txt"), "text");
});
afterEach(() => rmSync(root, { recursive: true }));

/** What the row adds to the result of a call. */
async function added(name: string, args: Record<string, unknown>, isError = false): Promise<string> {
  const environment = {
    cwd: root,
    homeDir: join(root, "a"),
    env: {},
    tauDir: join(root, ".tau"),
    tempDir: join(root, "temp"),
    settings: { bashTimeoutSeconds: 1 },
  };
  const tools = new ToolRegistry(environment, createBuiltinTools(environment));
  tools.register({
    name: "rename",
    label: "",
    description: "",
    parameters: { type: "object" },
    touches: ({ from, to }) => ({ reads: [String(from)], writes: [String(to)] }),
    execute: () => Promise.resolve({ content: [], details: undefined }),
  });
  const bus = new HookBus<RunEnding>();
  const nested = new NestedContext(root, new ContextFileCollector(["AGENTS.md"], root));
  bus.replace([], [nestedContextRow({ nested, tools, cwd: root, homeDir: environment.homeDir })]);
  const call = {
    toolCall: { type: "toolCall" as const, id: "1", name, arguments: args },
    args,
    result: { content: [], details: undefined },
    isError,
  };
  const { changes } = await bus.afterTool(call, new AbortController().signal);
  return (changes?.content ?? []).map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

describe("the context files of folders", () => {
  it.each<[string, Record<string, unknown>, string[]]>([
    ["read", { path: "a/b/file.txt" }, ["a", "a/b"]],
    ["read", { path: "~/x.txt" }, ["a"]],
    ["write", { path: "a/new.txt", content: "" }, ["a"]],
    ["grep", { pattern: "x", path: "a/b/file.txt" }, ["a", "a/b"]],
    ["rename", { from: "x", to: "a/y" }, ["a"]],
    // Looking at a folder is not work on a file of it.
    ["ls", { path: "a/b" }, []],
    ["find", { pattern: "*" }, []],
    ["bash", { command: "cat a/b/file.txt" }, []],
    ["unknown", { path: "a/b/file.txt" }, []],
  ])("R152 come with the first %s of %j", async (name, args, folders) => {
    const text = await added(name, args);
    for (const folder of ["a", "a/b"]) expect(text.includes(`rules of ${folder}\n`)).toBe(folders.includes(folder));
  });

  it("do not come with a call that failed", async () => {
    expect(await added("read", { path: "a/b/file.txt" }, true)).toBe("");
  });
});
