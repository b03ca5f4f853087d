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

describe("R308 a context file that is a link", () => {
  beforeEach(() => {
    put("secret/key", "PRIVATE");
    put("repo/docs/rules.md", "rules");
    mkdirSync(join(root, "repo/.git"));
    mkdirSync(join(root, "repo/sub/deep"), { recursive: true });
  });
  const link = (target: string, path: string) => symlinkSync(target, join(root, path));

  it.each([
    ["a file outside, absolute", "/secret/key", "repo/AGENTS.md"],
    ["a file outside, relative", "../secret/key", "repo/CLAUDE.md"],
    ["a file beside the repository whose path begins alike", "../repository.md", "repo/AGENTS.md"],
    ["a file outside, in a folder on the way", "../../secret/key", "repo/sub/AGENTS.md"],
  ])("leads to %s: left out, and said", (_title, target, path) => {
    put("repository.md", "PRIVATE");
    link(target.startsWith("/") ? root + target : target, path);
    const { files, warnings } = find("repo/sub/deep");
    expect(files).toEqual([]);
    expect(warnings).toEqual([expect.stringMatching(/is left out: it leads to .*, outside of .*repo; put a copy/)]);
  });

  it("leads out by a link to a link, or by a folder that is one", () => {
    link(join(root, "secret"), "repo/inner");
    link("inner/key", "repo/AGENTS.md");
    expect(texts("repo")).toEqual([]);
    put("secret/AGENTS.md", "PRIVATE");
    const nested = new NestedContext(join(root, "repo"), find("repo"));
    expect(nested.textFor("inner/x.ts")).toBe(undefined);
  });

  it("leads into its repository: used, from every folder of it", () => {
    link("docs/rules.md", "repo/AGENTS.md");
    expect(texts("repo/sub")).toEqual(["rules"]);
    put("repo/docs/more.md", "more");
    link("../../docs/more.md", "repo/sub/deep/CLAUDE.md");
    expect(texts("repo/sub/deep")).toEqual(["rules", "more"]);
    const nested = new NestedContext(join(root, "repo"), find("repo"));
    expect(nested.textFor("sub/deep/x.ts")).toContain("more");
  });

  it("stands in tau's home: used, wherever it leads", () => {
    put("dotfiles/agents.md", "mine");
    mkdirSync(join(root, "home"));
    link("../dotfiles/agents.md", "home/AGENTS.md");
    expect(texts("repo")).toEqual(["mine"]);
  });

  it("stands in a folder without a repository: it may lead into that folder only", () => {
    put("plain/docs/a.md", "a");
    link("docs/a.md", "plain/AGENTS.md");
    link("../secret/key", "plain/CLAUDE.md");
    const { files, warnings } = find("plain");
    expect([files.map(({ text }) => text), warnings.length]).toEqual([["a"], 1]);
  });
});

describe("NestedContext", () => {
  it("R152 gives the instructions of a sub-folder with the first file there, once", () => {
    put("AGENTS.md", "top");
    put("sub/AGENTS.md", "sub rules");
    put("sub/deep/CLAUDE.md", "deep rules");
    const collector = new ContextFileCollector(NAMES, root);
    collector.addFolder(root);
    const nested = new NestedContext(root, collector);
    expect(nested.textFor("x.txt")).toBe(undefined);
    expect(nested.textFor("../x.txt")).toBe(undefined);
    expect(nested.textFor("sub/deep/x.txt")).toMatch(/sub rules[\s\S]*deep rules/);
    expect(nested.textFor(join(root, "sub/y.txt"))).toBe(undefined);
  });
});
