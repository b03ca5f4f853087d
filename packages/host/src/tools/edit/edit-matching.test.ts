import { symlinkSync } from "node:fs";
import { expect, it } from "vitest";
import { filesBench, oneEdit } from "../__fixtures__/files-bench.ts";
import { createReadTool } from "../read/read-tool.ts";
import { createEditTool } from "./edit-tool.ts";

it("R052 a text that was moved is found by its content, one that is gone is refused with the fresh region", async () => {
  const bench = filesBench();
  bench.put("f", "one\ntwo\nthree\nfour\n");
  await bench.run(createReadTool, { path: "f" });
  await bench.run(createEditTool, oneEdit("f", "one", "a\nb\nc\none"));
  await bench.run(createEditTool, oneEdit("f", "three", "3"));
  expect(bench.text("f")).toBe("a\nb\nc\none\ntwo\n3\nfour\n");
  const stale = await bench.run(createEditTool, oneEdit("f", "two\nthree\nfour", "x"));
  expect(stale.isError).toBe(true);
  expect(stale.text).toContain("5\ttwo\n6\t3\n7\tfour");
  expect(bench.text("f")).toBe("a\nb\nc\none\ntwo\n3\nfour\n");
});

it("R053 a line that no read has shown can be edited", async () => {
  const bench = filesBench();
  bench.put("f", Array.from({ length: 100 }, (_, index) => `line ${index + 1}.\n`).join(""));
  await bench.run(createReadTool, { path: "f", limit: 10 });
  await bench.run(createReadTool, { path: "f", offset: 60, limit: 10 });
  const run = await bench.run(createEditTool, {
    path: "f",
    edits: [
      { oldText: "line 59.", newText: "edited 59." },
      { oldText: "line 10.", newText: "edited 10." },
    ],
  });
  expect(run.isError).toBe(false);
  expect(run.text).not.toContain("Note");
});

const R063_LINES = ["untouched   ", "“q” — é ﬁ Ａ", "replace me   ", "after", ""].join("\n");

it("R063 spaces and special characters outside of the match stay, and the diff shows the real bytes", async () => {
  const bench = filesBench();
  bench.put("f", R063_LINES);
  const run = await bench.run(createEditTool, oneEdit("f", "replace me\nafter", "replaced\nafter"));
  expect(bench.text("f")).toBe("untouched   \n“q” — é ﬁ Ａ\nreplaced\nafter\n");
  expect(run.details.patch).toContain(" untouched   \n “q” — é ﬁ Ａ\n-replace me   \n+replaced\n after\n");
});

it("R063 lines that the edit does not change keep their bytes inside of a folded match too", async () => {
  const bench = filesBench();
  bench.put("f", "first\nsays “hi”  \nlast\r\nend\n");
  await bench.run(createEditTool, oneEdit("f", 'first\nsays "hi"\nlast', '1st\nsays "hi"\nlast one'));
  expect(bench.text("f")).toBe("1st\nsays “hi”  \nlast one\r\nend\n");
});

it.each([
  ["a narrow no-break space", "Prix\u202f: 5 €", "Prix : 5 €"],
  ["an ideographic space", "a\u3000b", "a b"],
  ["a thin space", "10\u2009000", "10 000"],
  ["a minus sign", "x = \u22121", "x = -1"],
  ["dashes", "a \u2014 b \u2013 c", "a - b - c"],
  ["curly quotes", "\u201cit\u2019s\u201d", '"it\'s"'],
  ["plain text for curly text", '"it\'s"', "\u201cit\u2019s\u201d"],
  ["an ellipsis", "wait\u2026", "wait..."],
  ["full-width forms", "ｆ（ｘ）", "f(x)"],
  ["decomposed accents", "re\u0301sume\u0301", "r\u00e9sum\u00e9"],
  ["composed accents", "r\u00e9sum\u00e9", "re\u0301sume\u0301"],
  ["Hangul in pieces", "\u1112\u1161\u11ab", "\ud55c"],
])("R064 %s is matched by folding it, in its place only", async (_, inFile, oldText) => {
  const bench = filesBench();
  const around = `«\u00a0${"\u2013"} é “x”\u2026`;
  bench.put("f", `${around}\n<${inFile}>\n${around}\n`);
  const run = await bench.run(createEditTool, oneEdit("f", `<${oldText}>`, "<new>"));
  expect(run.isError).toBe(false);
  expect(bench.text("f")).toBe(`${around}\n<new>\n${around}\n`);
});

it("R064 an exact match wins, a folded one must be unique, and nothing is matched because it is similar", async () => {
  const bench = filesBench();
  bench.put("f", "a\u202fb\na b\nc\u202fd\nc\u00a0d\n");
  await bench.run(createEditTool, oneEdit("f", "a b", "X"));
  expect(bench.text("f")).toBe("a\u202fb\nX\nc\u202fd\nc\u00a0d\n");
  const two = await bench.run(createEditTool, oneEdit("f", "c d", "Y"));
  expect(two.text).toContain("lines 3, 4");
  for (const near of ["ab", "a  b", "A b", "a_b", "c  d", "c d!"]) {
    const run = await bench.run(createEditTool, oneEdit("f", near, "Y"));
    expect(run.isError, near).toBe(true);
  }
  expect(bench.text("f")).toBe("a\u202fb\nX\nc\u202fd\nc\u00a0d\n");
});

it("R064 half of a folded character is not a match", async () => {
  const bench = filesBench();
  bench.put("f", "wait\u2026 é\n");
  expect((await bench.run(createEditTool, oneEdit("f", "wait..", "x"))).isError).toBe(true);
  expect(bench.text("f")).toBe("wait\u2026 é\n");
});

const PYTHON = "if a:\n    x = 1\n    y = 2\nelse:\n        x = 1\n        y = 2\n";

it("R065 two blocks that differ by indentation only are ambiguous, with both places shown", async () => {
  const bench = filesBench();
  bench.put("f", PYTHON);
  const run = await bench.run(createEditTool, oneEdit("f", "  x = 1\n  y = 2\n", "  z = 3\n"));
  expect(run.isError).toBe(true);
  expect(run.text).toContain("lines 2, 5");
  expect(run.text).toContain("2\t    x = 1");
  expect(run.text).toContain("5\t        x = 1");
  expect(bench.text("f")).toBe(PYTHON);
});

it("R065 a unique block is edited with its own indentation", async () => {
  const bench = filesBench();
  bench.put("f", "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n");
  const run = await bench.run(
    createEditTool,
    oneEdit("f", "def g(self):\n    return 2\n", "def g(self):\n    if x:\n        return 3\n\n    return 2\n"),
  );
  expect(run.text).toContain("4 spaces more");
  expect(bench.text("f")).toBe(
    "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        if x:\n            return 3\n\n        return 2\n",
  );
  bench.put("tabs", "{\r\n\tone();\r\n\ttwo();\r\n}\r\n");
  await bench.run(createEditTool, oneEdit("tabs", "\t\t\tone();\n\t\t\ttwo();", "\t\t\tone(1);\n\t\t\t\tdeep();"));
  expect(bench.text("tabs")).toBe("{\r\n\tone(1);\r\n\t\tdeep();\r\n}\r\n");
});

it.each([
  ["tabs for spaces", "{\n\ta();\n\t\tb();\n}\n", "  a();\n    b();"],
  ["uneven indentation", "x\n  a\n      b\n", "    a\n    b"],
])("R065 a block that is not evenly shifted is shown and not changed: %s", async (_, content, oldText) => {
  const bench = filesBench();
  bench.put("f", content);
  const run = await bench.run(createEditTool, oneEdit("f", oldText, "c"));
  expect(run.isError).toBe(true);
  expect(run.text).toContain("another indentation");
  expect(run.text).toContain("2\t");
  expect(bench.text("f")).toBe(content);
});

it("R067 a missing file is an error with near names, and no other file is touched", async () => {
  const bench = filesBench();
  bench.put("a/x.css", "text\n");
  bench.put("a/b/x.css", "text\n");
  bench.put("a/readme.md", "text\n");
  const run = await bench.run(createEditTool, oneEdit("x.css", "text", "new"));
  expect(run.isError).toBe(true);
  expect(run.text).toContain("a/x.css, a/b/x.css");
  const typo = await bench.run(createEditTool, oneEdit("a/README.md", "text", "new"));
  expect(typo.text).toContain("readme.md");
  const folder = await bench.run(createEditTool, oneEdit("b/x.css", "text", "new"));
  expect(folder.text).toContain('has no "b"');
  for (const name of ["a/x.css", "a/b/x.css", "a/readme.md"]) expect(bench.text(name)).toBe("text\n");
});

it("R068 after a change by another program the content decides, with a note or with the fresh region", async () => {
  const bench = filesBench();
  bench.put("f", "import a\nfunction f() { return 1 }\nexport f\n");
  await bench.run(createReadTool, { path: "f" });
  bench.put("f", "import a\nfunction f() {\n  return 1;\n}\nexport f\n");
  const touched = await bench.run(
    createEditTool,
    oneEdit("f", "function f() { return 1 }", "function f() { return 2 }"),
  );
  expect(touched.isError).toBe(true);
  expect(touched.text).toContain("has changed on disk");
  expect(touched.text).toContain("function f() {");
  const untouched = await bench.run(createEditTool, oneEdit("f", "export f", "export default f"));
  expect(untouched.isError).toBe(false);
  expect(untouched.text).toContain("had changed on disk");
  const again = await bench.run(createEditTool, oneEdit("f", "import a", "import b"));
  expect(again.text).not.toContain("changed on disk");
});

it("R069 edit takes its path exactly: names that look alike are not opened", async () => {
  const bench = filesBench();
  bench.put("a\u202fb.txt", "text\n");
  const run = await bench.run(createEditTool, oneEdit("a b.txt", "text", "new"));
  expect(run.isError).toBe(true);
  expect(bench.text("a\u202fb.txt")).toBe("text\n");
  await bench.run(createEditTool, oneEdit("a\u202fb.txt", "text", "new"));
  expect(bench.text("a\u202fb.txt")).toBe("new\n");
});

it("edit refuses folders, loops of links and empty paths with a reason", async () => {
  const bench = filesBench();
  bench.put("d/f", "x");
  symlinkSync("loop", bench.path("loop"));
  expect((await bench.run(createEditTool, oneEdit("d", "x", "y"))).text).toContain("is a folder");
  expect((await bench.run(createEditTool, oneEdit("loop", "x", "y"))).text).toContain("loop");
  expect((await bench.run(createEditTool, oneEdit("", "x", "y"))).text).toContain("empty");
  expect((await bench.run(createEditTool, oneEdit("d/f/g", "x", "y"))).isError).toBe(true);
});
