import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ContextFileCollector, findContextFiles, MAX_CONTEXT_FILE_BYTES } from "./context-files.ts";
import { NestedContext } from "./nested-context.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "tau-context-")));
});
afterEach(() => rmSync(root, { recursive: true }));

const NAMES = ["AGENTS.md", "CLAUDE.md"];

function put(path: string, text: string): string {
  const full = join(root, path);
  mkdirSync(join(full, ".."), { recursive: true });
  writeFileSync(full, text);
  return full;
}

const find = (cwd: string, tauDir = "home") =>
  findContextFiles({ tauDir: join(root, tauDir), cwd: join(root, cwd), names: NAMES });
const texts = (cwd: string, tauDir?: string) => find(cwd, tauDir).files.map(({ text }) => text);

describe("findContextFiles", () => {
  it("R152 goes from the home and the root down to the working directory, past nested repositories", () => {
    put("home/AGENTS.md", "home");
    put("a/AGENTS.md", "a");
    put("a/b/AGENTS.md", "b");
    mkdirSync(join(root, "a/b/.git"));
    put("a/b/c/AGENTS.md", "c");
    expect(texts("a/b/c")).toEqual(["home", "a", "b", "c"]);
    expect(texts("a/b")).toEqual(["home", "a", "b"]);
    expect(texts("a")).toEqual(["home", "a"]);
  });

  it("R152 uses a file once, also when the home lies on the way", () => {
    put("a/AGENTS.md", "a");
    put("a/b/CLAUDE.md", "b");
    expect(texts("a/b", "a")).toEqual(["a", "b"]);
  });

  it("R189 reads AGENTS.md, CLAUDE.md, or both without saying anything twice", () => {
    put("only-agents/AGENTS.md", "agents");
    put("only-claude/CLAUDE.md", "claude");
    put("both/AGENTS.md", "agents");
    put("both/CLAUDE.md", "claude");
    put("same/AGENTS.md", "one text\n");
    put("same/CLAUDE.md", "one text");
    put("pointer/AGENTS.md", "agents");
    put("pointer/CLAUDE.md", "@AGENTS.md\n");
    put("link/AGENTS.md", "agents");
    symlinkSync("AGENTS.md", join(root, "link/CLAUDE.md"));
    expect(texts("only-agents")).toEqual(["agents"]);
    expect(texts("only-claude")).toEqual(["claude"]);
    expect(texts("both")).toEqual(["agents", "claude"]);
    expect(texts("same")).toEqual(["one text"]);
    expect(texts("pointer")).toEqual(["agents"]);
    expect(texts("link")).toEqual(["agents"]);
  });

  it("R189 takes the names to look for from outside", () => {
    put("a/AGENTS.md", "agents");
    put("a/RULES.md", "rules");
    const { files } = findContextFiles({ tauDir: join(root, "home"), cwd: join(root, "a"), names: ["RULES.md"] });
    expect(files.map(({ text }) => text)).toEqual(["rules"]);
  });

  it("R153 follows the path the user named, and a symlinked file, but not a dangling or cyclic one", () => {
    put("physical/AGENTS.md", "physical");
    put("physical/ws/AGENTS.md", "ws");
    put("logical/AGENTS.md", "logical");
    symlinkSync(join(root, "physical/ws"), join(root, "logical/ws"));
    symlinkSync("nowhere", join(root, "physical/ws/CLAUDE.md"));
    symlinkSync("CLAUDE.md", join(root, "logical/CLAUDE.md"));
    expect(texts("logical/ws")).toEqual(["logical", "ws"]);
    expect(texts("physical/ws")).toEqual(["physical", "ws"]);
  });

  it("cuts a huge file at a line, says so in the text and in a warning", () => {
    put("a/AGENTS.md", "ä line of text\n".repeat(20_000));
    const { files, warnings } = find("a");
    expect(Buffer.byteLength(files[0]?.text ?? "")).toBeLessThan(MAX_CONTEXT_FILE_BYTES + 100);
    expect(files[0]?.text).toMatch(/ä line of text\n\[Cut here: 320000 bytes in all/);
    expect(warnings[0]).toContain("is cut");
  });

  it("leaves out folders, pipes and binary files with a warning each", () => {
    mkdirSync(join(root, "a/AGENTS.md"), { recursive: true });
    put("a/b/AGENTS.md", "bin\0ary");
    mkdirSync(join(root, "a/b/c"));
    execFileSync("mkfifo", [join(root, "a/b/c/AGENTS.md")]);
    const { files, warnings } = find("a/b/c");
    expect(files).toEqual([]);
    expect(warnings).toHaveLength(3);
  });
});

describe("NestedContext", () => {
  it("R152 gives the instructions of a sub-folder with the first file there, once", () => {
    put("AGENTS.md", "top");
    put("sub/AGENTS.md", "sub rules");
    put("sub/deep/CLAUDE.md", "deep rules");
    const collector = new ContextFileCollector(NAMES);
    collector.addFolder(root);
    const nested = new NestedContext(root, collector);
    expect(nested.textFor("x.txt")).toBe(undefined);
    expect(nested.textFor("../x.txt")).toBe(undefined);
    expect(nested.textFor("sub/deep/x.txt")).toMatch(/sub rules[\s\S]*deep rules/);
    expect(nested.textFor(join(root, "sub/y.txt"))).toBe(undefined);
  });
});
