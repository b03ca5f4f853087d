import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { runTool, type Workbench, workbench } from "../__fixtures__/workbench.ts";
import { createFindTool } from "../find/find-tool.ts";
import { createGrepTool } from "./grep-tool.ts";

function files(contents: Record<string, string | Buffer>, bench = workbench()): Workbench {
  for (const [name, content] of Object.entries(contents)) {
    const path = join(bench.cwd, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
  return bench;
}

function grep(bench: Workbench, args: Record<string, unknown>, signal?: AbortSignal) {
  return runTool(createGrepTool(bench), args, signal ? { signal } : {});
}

const IGNORING = {
  ".gitignore": "scripts/*\nnode_modules\n*.log\n",
  "scripts/a.sh": "MARK in script\n",
  "node_modules/a/index.js": "MARK in module\n",
  "src/a.js": "MARK in source\n",
  ".github/workflows/ci.yml": "MARK in workflow\n",
  ".git/config": "MARK in git\n",
  "logs/app.log": "MARK in log\n",
  "logs/README": "MARK in readme\n",
};

describe("grep", () => {
  it("gives hits as path:line: text, sorted, relative to the working directory", async () => {
    const bench = files({ "b.txt": "x\nfoo 1\n", "a/c.txt": "foo 2\nfoo 3\n" });
    const run = await grep(bench, { pattern: "foo \\d" });
    expect(run.text).toBe("a/c.txt:1: foo 2\na/c.txt:2: foo 3\nb.txt:2: foo 1");
    expect(run).toMatchObject({ isError: false, details: { matches: 3, files: 2, more: false } });
  });

  it.each([
    ["ignoreCase", { pattern: "FOO", ignoreCase: true }, "a.txt:1: foo(1)"],
    ["literal", { pattern: "foo(1)", literal: true }, "a.txt:1: foo(1)"],
    ["a pattern that starts with a dash", { pattern: "--files" }, "a.txt:2: --files"],
    ["look-around", { pattern: "foo(?=\\()" }, "a.txt:1: foo(1)"],
    ["a match over two lines", { pattern: "1\\)\\n--f" }, "a.txt:1: foo(1)\na.txt:2: --files"],
    ["one file", { pattern: "foo", path: "a.txt" }, "a.txt:1: foo(1)"],
  ])("knows %s", async (_name, args, expected) => {
    expect((await grep(files({ "a.txt": "foo(1)\n--files\n" }), args)).text).toBe(expected);
  });

  it("says what was searched when nothing matches", async () => {
    const run = await grep(files({ "src/a.js": "x", "b.ts": "x" }), { pattern: "nope", glob: "*.js" });
    expect(run.text).toBe("No matches for /nope/ in files *.js in the working directory (1 file searched).");
    expect(run.isError).toBe(false);
  });

  it("explains an invalid pattern and that literal exists", async () => {
    const run = await grep(files({ "a.txt": "foo(" }), { pattern: "foo(" });
    expect(run.isError).toBe(true);
    expect(run.text).toMatch(/unclosed group[\s\S]*literal: true/);
    expect((await grep(files({ "a.txt": "foo(" }), { pattern: "foo(", literal: true })).text).toBe("a.txt:1: foo(");
  });

  it("names near files when the path is missing", async () => {
    const run = await grep(files({ "src/parser.ts": "" }), { pattern: "x", path: "src/parsr.ts" });
    expect(run.isError).toBe(true);
    expect(run.text).toContain("parser.ts");
  });

  it("finds odd names and shows them on one line", async () => {
    const bench = files({
      "with space.txt": "hit\n",
      "ünï.txt": "hit\n",
      "new\nline\x1b[31m.txt": "hit\n",
      "-dash:1:.txt": "hit\n",
    });
    expect((await grep(bench, { pattern: "hit" })).text.split("\n")).toEqual([
      "-dash:1:.txt:1: hit",
      "new\\nline\\x1b[31m.txt:1: hit",
      "with space.txt:1: hit",
      "ünï.txt:1: hit",
    ]);
  });

  it("shows context with other marks and separates groups", async () => {
    const bench = files({ "a.txt": Array.from({ length: 9 }, (_, i) => `line ${i + 1}\n`).join("") });
    const run = await grep(bench, { pattern: "line [27]", context: 1 });
    expect(run.text).toBe(
      "a.txt-1- line 1\na.txt:2: line 2\na.txt-3- line 3\n--\na.txt-6- line 6\na.txt:7: line 7\na.txt-8- line 8",
    );
  });

  it("shows no context of a match that the limit leaves out", async () => {
    const bench = files({ "a.txt": "1\nhit\n3\n4\n5\n6\n7\nhit\n" });
    const run = await grep(bench, { pattern: "hit", context: 1, limit: 1 });
    expect(run.text).toMatch(/^a\.txt-1- 1\na\.txt:2: hit\na\.txt-3- 3\n\n\[the first 1 matches/);
  });

  it("refuses what is neither file nor folder", async () => {
    expect((await grep(workbench(), { pattern: "x", path: "/dev/zero" })).text).toMatch(/cannot be searched/);
  });

  it("bears a program of that name that prints something else", async () => {
    const bench = files({ "a.txt": "x" });
    const own = join(bench.homeDir, "rg");
    writeFileSync(own, '#!/bin/sh\necho hello\necho \'{"type":"match"}\'\necho null\n');
    chmodSync(own, 0o755);
    const run = await grep({ ...bench, settings: { ...bench.settings, ripgrepPath: own } }, { pattern: "x" });
    expect(run.text).toContain("No matches");
  });

  it("R090 searches an ignored place in full when it is named", async () => {
    const bench = files(IGNORING);
    const text = async (path: string) => (await grep(bench, { pattern: "MARK", path })).text;
    expect(await text("scripts/")).toBe("In files that ignore rules skip:\nscripts/a.sh:1: MARK in script");
    expect(await text("scripts/a.sh")).toBe("scripts/a.sh:1: MARK in script");
    expect(await text("node_modules/a")).toContain("node_modules/a/index.js:1: MARK in module");
    expect(await text("logs")).toBe(
      "logs/README:1: MARK in readme\n\nIn files that ignore rules skip:\nlogs/app.log:1: MARK in log",
    );
    expect(await text(".git")).toContain(".git/config:1: MARK in git");
  });

  it("R090 searches hidden files except git's own, and reports matches that ignore rules skip", async () => {
    const run = await grep(files(IGNORING), { pattern: "MARK" });
    expect(run.text).toBe(
      [
        ".github/workflows/ci.yml:1: MARK in workflow",
        "logs/README:1: MARK in readme",
        "src/a.js:1: MARK in source",
        "",
        "[ignore rules skip 3 matches in: logs/app.log, node_modules/a/index.js, scripts/a.sh. Give such a path to see them]",
      ].join("\n"),
    );
    expect(run.details).toMatchObject({ matches: 3, ignoredMatches: 3, ignoredFiles: 3 });
  });

  it("R090 says how many ignored files there are when nothing matches anywhere", async () => {
    const run = await grep(files(IGNORING), { pattern: "ABSENT" });
    expect(run.text).toMatch(/^No matches for .*\n\[no matches in 3 ignored files either\]$/);
  });

  it.each([
    ["*.js", "src/a.js:1: MARK in source"],
    ["src/**/*.js", "src/a.js:1: MARK in source"],
    ["*.{js,yml}", ".github/workflows/ci.yml:1: MARK in workflow\nsrc/a.js:1: MARK in source"],
    [".github/**", ".github/workflows/ci.yml:1: MARK in workflow"],
    ["!*.js", ".github/workflows/ci.yml:1: MARK in workflow\nlogs/README:1: MARK in readme"],
    ["{src,logs}/*", "logs/README:1: MARK in readme\nsrc/a.js:1: MARK in source"],
    ["*.js,*.yml", ".github/workflows/ci.yml:1: MARK in workflow\nsrc/a.js:1: MARK in source"],
  ])("R092 ignore rules hold together with the glob %s", async (glob, expected) => {
    const { text } = await grep(files(IGNORING), { pattern: "MARK", glob });
    expect(text.split("\n\n[")[0]).toBe(expected);
  });

  it("R095 finds a line in large logs with context in bounded memory", async () => {
    const line = (n: number) => `line ${n} ${"x".repeat(80)}\n`;
    const log = Array.from({ length: 200_000 }, (_, i) => line(i)).join("");
    const bench = files({ "0.log": log, "1.log": log, "2.log": log, "3.log": log });
    const before = process.memoryUsage().rss;
    const run = await grep(bench, { pattern: "line 199998 ", context: 2 });
    expect(process.memoryUsage().rss - before).toBeLessThan(50 * 1024 * 1024);
    expect(run.details).toMatchObject({ matches: 4, files: 4 });
    expect(run.text).toContain("0.log-199997- line 199996");
  });

  it("R096 shows long lines as the part around the hit, limits over all files, and says that there is more", async () => {
    const bench = files({ "min.js": `${"é".repeat(250_000)}HIT${"€".repeat(100_000)} HIT HIT HIT HIT` });
    for (let i = 0; i < 300; i++) files({ [`many/${i}.txt`]: "a HIT\n" }, bench);
    const one = await grep(bench, { pattern: "HIT", path: "min.js" });
    expect(one.text).toMatch(/^min\.js:1: …é+HIT€+… \[4 more in this line\]$/);
    expect(one.text.length).toBeLessThan(540);
    const all = await grep(bench, { pattern: "HIT", limit: 20 });
    expect(all.details).toMatchObject({ matches: 20, more: true });
    expect(all.text).toMatch(/\n\n\[the first 20 matches; there are more\. /);
    expect(all.text.split("\n")).toHaveLength(22);
  });

  it("R096 says nothing of more when the limit is just reached", async () => {
    const run = await grep(files({ "a.txt": "x\nx\n" }), { pattern: "x", limit: 2 });
    expect(run).toMatchObject({ text: "a.txt:1: x\na.txt:2: x", details: { more: false } });
  });

  it("R096 keeps the text under 50 KB and says that it is cut", async () => {
    const bench = files({ "a.txt": `${"x".repeat(400)}\n`.repeat(1000) });
    const run = await grep(bench, { pattern: "x", limit: 1000 });
    expect(Buffer.byteLength(run.text)).toBeLessThan(51 * 1024);
    expect(run.text).toMatch(/\[cut at 50 KB; there is more\./);
    expect(run.details.more).toBe(true);
  });

  it("R096 does not take in a line of megabytes", async () => {
    const bench = files({ "a.txt": `short HIT\n${"x".repeat(9_000_000)}HIT\n` });
    const run = await grep(bench, { pattern: "HIT" });
    expect(run.text).toBe("a.txt:1: short HIT\na.txt: [a line of more than 8 MB; not shown]");
  });

  it.each(["((a{0,100}){0,100}){0,100}", "\\w{1000}", "(\\w{0,500}){0,20}", "[^.]{0,90}x[^.]{0,90}\\."])(
    "R098 %s is answered or refused in little memory",
    async (pattern) => {
      const run = await grep(files({ "a.txt": "aaa\n" }), { pattern });
      if (run.isError) expect(run.text).toContain("too large when compiled");
      else expect(run.text).toMatch(/a\.txt:1: aaa|No matches/);
    },
  );

  it("R098 a pattern that takes for ever in look-around ends", async () => {
    const bench = files({ "a.txt": `${"a".repeat(5000)}!\n` });
    const run = await grep(bench, { pattern: "^(?=(a+)+$)x" });
    expect(run.text).toMatch(/No matches|ripgrep/);
  });

  it("an abort ends the search", async () => {
    const run = await grep(files({ "a.txt": "x" }), { pattern: "x" }, AbortSignal.abort());
    expect(run).toMatchObject({ text: "Aborted.", isError: true });
  });

  it("uses the configured program, and says what to do when there is none", async () => {
    const bench = files({ "a.txt": "x" });
    const broken = { ...bench, settings: { ...bench.settings, ripgrepPath: "/nope/rg" } };
    expect((await grep(broken, { pattern: "x" })).text).toContain("/nope/rg (setting ripgrepPath)");
    const own = join(bench.homeDir, "rg");
    writeFileSync(own, '#!/bin/sh\necho "own program" >&2\nexit 2\n');
    chmodSync(own, 0o755);
    const configured = { ...bench, settings: { ...bench.settings, ripgrepPath: own } };
    expect((await grep(configured, { pattern: "x" })).text).toContain("own program");
  });

  it("takes rg from the PATH before the packaged one", async () => {
    const bench = files({ "a.txt": "x" });
    const version = 'test "$1" = --version && echo "ripgrep 14.0.0 +pcre2" && exit';
    writeFileSync(join(bench.homeDir, "rg"), `#!/bin/sh\n${version}\necho "from the path" >&2\nexit 2\n`);
    chmodSync(join(bench.homeDir, "rg"), 0o755);
    const run = await grep({ ...bench, env: { PATH: `${bench.homeDir}:/bin` } }, { pattern: "x" });
    expect(run.text).toContain("from the path");
  });

  const NEW = 'test "$1" = --version && echo "ripgrep 15.1.0 +pcre2" && exit 0';
  it.each([
    ["is old", 'test "$1" = --version && echo "ripgrep 0.10.0" && exit; exit 2'],
    ["is of another kind", "exit 0"],
    ["cannot be found by its wrapper", "exit 127"],
    ["is killed at once", "kill -9 $$"],
    [
      "is killed in the middle of its search",
      `${NEW}; echo '{"type":"summary","data":{"stats":{"searches":9}}}'; kill -9 $$`,
    ],
    ["ends its search with a code that is not ripgrep's", `${NEW}; exit 127`],
    ["aborts", `${NEW}; kill -ABRT $$`],
  ])("R232 an rg on the PATH that %s is left for the packaged one", async (_what, script) => {
    const bench = files({ "a.txt": "x" });
    writeFileSync(join(bench.homeDir, "rg"), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bench.homeDir, "rg"), 0o755);
    const withIt = { ...bench, env: { PATH: `${bench.homeDir}:/bin` } };
    expect((await grep(withIt, { pattern: "x" })).text).toBe("a.txt:1: x");
    expect((await runTool(createFindTool(withIt), { pattern: "*.txt" })).text).toBe("a.txt");
  });

  it.each(["exit 127", "kill -9 $$"])("R232 a configured ripgrep that does `%s` is an error", async (script) => {
    const bench = files({ "a.txt": "x" });
    const own = join(bench.homeDir, "rg");
    writeFileSync(own, `#!/bin/sh\n${script}\n`);
    chmodSync(own, 0o755);
    const withIt = { ...bench, settings: { ...bench.settings, ripgrepPath: own } };
    for (const run of [await grep(withIt, { pattern: "x" }), await runTool(createFindTool(withIt), { pattern: "*" })]) {
      expect(run.isError).toBe(true);
      expect(run.text).toContain("setting ripgrepPath");
    }
  });

  it.each([
    ["\\{$", "a.cs:1: class A {"],
    ["^using System;$", "a.cs:2: using System;"],
    ["(?<=System);$", "a.cs:2: using System;"],
    ["^$", "a.cs:3: "],
    ["^last$", "a.cs:4: last"],
  ])("R234 %s fits in a file with CRLF as in one with LF", async (pattern, expected) => {
    for (const end of ["\r\n", "\n"]) {
      const bench = files({ "a.cs": ["class A {", "using System;", "", "last"].join(end) });
      expect((await grep(bench, { pattern })).text).toBe(expected);
    }
  });

  it.each(["app/[slug]/*.tsx", "**/[slug]/*", "{{name}}/*.tsx"])(
    "R233 the glob %s finds a literal name",
    async (glob) => {
      const bench = files({ "app/[slug]/page.tsx": "x\n", "{{name}}/page.tsx": "x\n", "app/other/page.tsx": "x\n" });
      expect((await grep(bench, { pattern: "x", glob })).text).toMatch(/^(app\/\[slug\]|\{\{name\}\})\/page.tsx:1: x$/);
    },
  );

  it.each([
    { pattern: "x".repeat(200_000) },
    { pattern: "ä".repeat(60_000), literal: true },
    { pattern: "x", glob: "y".repeat(200_000) },
  ])("R234 says of an argument that no program can take what to do", async (args) => {
    const run = await grep(files({ "a.txt": "x" }), args);
    expect(run.isError).toBe(true);
    expect(run.text).toMatch(
      /^The (pattern|glob) has \d+ KB, and at most 100 KB can be searched for\. Search for a part of it\.$/,
    );
  });

  it("follows a link that is named", async () => {
    const bench = files({ "real/a.txt": "x\n" });
    symlinkSync("real", join(bench.cwd, "link"));
    expect((await grep(bench, { pattern: "x", path: "link" })).text).toBe("link/a.txt:1: x");
  });

  it("R135 strips terminal sequences from hits", async () => {
    const bench = files({ "a.txt": "\x1b[31mHIT\x1b[0m \x1b]0;title\x07end\r\nHIT a\rb\n" });
    expect((await grep(bench, { pattern: "HIT" })).text).toBe("a.txt:1: HIT end\na.txt:2: HIT ab");
  });
});
