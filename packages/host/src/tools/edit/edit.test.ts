import {
  chmodSync,
  linkSync,
  lstatSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { expect, it } from "vitest";
import { filesBench, oneEdit } from "../__fixtures__/files-bench.ts";
import { createReadTool } from "../read/read-tool.ts";
import { createWriteTool } from "../write/write-tool.ts";
import { createEditTool } from "./edit-tool.ts";

const LATIN1_CAFE = Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x0a]);

it("R044 a CRLF file is matched by LF text and stays CRLF", async () => {
  const bench = filesBench();
  bench.put("f", "a\r\nb\r\nc\r\n");
  const run = await bench.run(createEditTool, oneEdit("f", "b\nc", "B\nC\n"));
  expect(run.isError).toBe(false);
  expect(bench.text("f")).toBe("a\r\nB\r\nC\r\n");
  await bench.run(createEditTool, oneEdit("f", "a", "x\ny"));
  expect(bench.text("f")).toBe("x\r\ny\r\nB\r\nC\r\n");
  bench.put("lf", "a\nb\nc\n");
  await bench.run(createEditTool, oneEdit("lf", "b\r\nc", "B\r\nC"));
  expect(bench.text("lf")).toBe("a\nB\nC\n");
});

it("R044 a mixed file keeps the line end of each region", async () => {
  const bench = filesBench();
  bench.put("f", "one\r\ntwo\r\nthree\nfour\n");
  await bench.run(createEditTool, {
    path: "f",
    edits: [
      { oldText: "one\ntwo", newText: "1\n1b\n2" },
      { oldText: "four", newText: "4\n5" },
    ],
  });
  expect(bench.text("f")).toBe("1\r\n1b\r\n2\r\nthree\n4\n5\n");
});

it("R044 one newline too many in newText leaves no empty line, a meant one stays", async () => {
  const bench = filesBench();
  bench.put("f", "a\nb\nc\n");
  const run = await bench.run(createEditTool, oneEdit("f", "b", "B\n"));
  expect(bench.text("f")).toBe("a\nB\nc\n");
  expect(run.text).toContain("left out");
  await bench.run(createEditTool, oneEdit("f", "B", "B\n"));
  expect(bench.text("f")).toBe("a\nB\n\nc\n");
});

it.each([
  ["CRLF in newText", "b", "x\r\ny"],
  ["CR before a kept line end", "b", "x\r"],
  ["doubled CR", "b", "x\r\r\ny"],
  ["oldText that begins at the line end", "\nb", "\nB"],
  ["oldText that ends between CR and LF", "b\r", "B\r"],
  ["a newline at the end of both", "b\n", "x\ny\n"],
])("R046 no CR CR LF is ever made: %s", async (_, oldText, newText) => {
  const bench = filesBench();
  bench.put("f", "a\r\nb\r\nc\r\n");
  const run = await bench.run(createEditTool, oneEdit("f", oldText, newText));
  expect(run.isError).toBe(false);
  expect(bench.text("f")).toMatch(/^(?:[^\r\n]*\r\n)+$/);
  expect(bench.text("f").startsWith("a\r\n")).toBe(true);
  expect(bench.text("f").endsWith("c\r\n")).toBe(true);
});

it("R044 a file whose lines a CR alone ends is matched by LF text and stays so", async () => {
  const bench = filesBench();
  bench.put("f", "a\rb\rc\r");
  await bench.run(createEditTool, oneEdit("f", "b\nc\n", "B\nnew\nC\n"));
  expect(bench.text("f")).toBe("a\rB\rnew\rC\r");
  await bench.run(createEditTool, oneEdit("f", "a", "1\n2"));
  expect(bench.text("f")).toBe("1\r2\rB\rnew\rC\r");
  await bench.run(createEditTool, oneEdit("f", "B\rnew", "B\rold"));
  expect(bench.text("f")).toBe("1\r2\rB\rold\rC\r");
});

it("R044 R063 in a file of mixed line ends each line keeps its own, and new ones take those of their neighbours", async () => {
  const bench = filesBench();
  bench.put("f", "one\r\ntwo\nthree\rfour\r\nfive");
  await bench.run(createEditTool, oneEdit("f", "one\ntwo\nthree\nfour\nfive", "one\nTWO\nTHREE\nfour\nfive"));
  expect(bench.text("f")).toBe("one\r\nTWO\nTHREE\nfour\r\nfive");
  bench.put("g", "one\r\ntwo\nthree\rfour\r\nfive");
  await bench.run(createEditTool, oneEdit("g", "two\nthree\nfour", "two\nTHREE\nfour"));
  expect(bench.text("g")).toBe("one\r\ntwo\nTHREE\rfour\r\nfive");
  bench.put("h", "one\r\ntwo\nthree\r\n");
  await bench.run(createEditTool, oneEdit("h", "one\ntwo\nthree\n", "one\n2\nthree\n"));
  expect(bench.text("h")).toBe("one\r\n2\nthree\r\n");
});

it("R046 a CR inside a line is not a line end of the file", async () => {
  const bench = filesBench();
  bench.put("f", "10 %\r20 %\nend\n");
  await bench.run(createEditTool, oneEdit("f", "20 %", "20 %\n30 %"));
  expect(bench.text("f")).toBe("10 %\r20 %\n30 %\nend\n");
  await bench.run(createEditTool, oneEdit("f", "10 %\r20 %", "10 %\r25 %\n"));
  expect(bench.text("f")).toMatch(/^10 %\r25 %\n/);
});

it("R047 a byte order mark is kept by edit and write, never doubled, never shown", async () => {
  const bench = filesBench();
  bench.put("f", "\ufeffhéllo\n");
  expect((await bench.run(createReadTool, { path: "f" })).text).toBe("héllo\n");
  await bench.run(createEditTool, oneEdit("f", "héllo", "hallo"));
  expect(bench.text("f")).toBe("\ufeffhallo\n");
  await bench.run(createEditTool, oneEdit("f", "\ufeffhallo", "\ufeffhi"));
  expect(bench.text("f")).toBe("\ufeffhi\n");
  await bench.run(createWriteTool, { path: "f", content: "new\n" });
  expect(bench.text("f")).toBe("\ufeffnew\n");
  await bench.run(createWriteTool, { path: "f", content: "\ufeffnewer\n" });
  expect(bench.text("f")).toBe("\ufeffnewer\n");
});

it("R048 a final newline is neither added nor lost", async () => {
  const bench = filesBench();
  bench.put("f", "a\nb");
  await bench.run(createEditTool, oneEdit("f", "a", "A"));
  expect(bench.text("f")).toBe("A\nb");
  await bench.run(createEditTool, oneEdit("f", "b", "B"));
  expect(bench.text("f")).toBe("A\nB");
  bench.put("g", "a\nb\n");
  await bench.run(createEditTool, oneEdit("g", "b", "B"));
  expect(bench.text("g")).toBe("a\nB\n");
});

it("R048 a newline in oldText that the last line has not is not a reason to fail, nor to add one", async () => {
  const bench = filesBench();
  bench.put("f", "a\nb");
  await bench.run(createEditTool, oneEdit("f", "a\nb\n", "A\nB\n"));
  expect(bench.text("f")).toBe("A\nB");
});

it("R049 a file in a multi-byte encoding is edited in it", async () => {
  const bench = filesBench();
  const { encode } = await import("iconv-lite");
  const text = "// 简体中文文本内容测试一下编码检测\nint x = 1;\n// 下一行\n";
  bench.put("f", encode(text, "gbk"));
  expect((await bench.run(createReadTool, { path: "f" })).text).toContain(text);
  await bench.run(createEditTool, oneEdit("f", "下一行", "第三行"));
  expect(bench.bytes("f")).toEqual(encode(text.replace("下一行", "第三行"), "gbk"));
});

it("R049 a single bad byte does not make a UTF-8 file another one", async () => {
  const bench = filesBench();
  const ascii = "plain ascii line\n".repeat(5000);
  const bytes = Buffer.concat([Buffer.from(`${ascii}héllo wörld ∑\n`), Buffer.from([0xe9]), Buffer.from("\nünd\n")]);
  bench.put("f", bytes);
  await bench.run(createEditTool, oneEdit("f", "ünd", "and ∑"));
  const expected = Buffer.concat([bytes.subarray(0, bytes.length - 5), Buffer.from("and ∑\n")]);
  expect(bench.bytes("f")).toEqual(expected);
});

it("R049 bytes that are not UTF-8 stay what they are", async () => {
  const bench = filesBench();
  bench.put("f", Buffer.concat([LATIN1_CAFE, Buffer.from("plain line\n"), Buffer.from([0xff, 0x0a])]));
  const run = await bench.run(createEditTool, oneEdit("f", "plain line", "other\nlines"));
  expect(run.isError).toBe(false);
  expect(bench.bytes("f")).toEqual(
    Buffer.concat([LATIN1_CAFE, Buffer.from("other\nlines\n"), Buffer.from([0xff, 0x0a])]),
  );
});

it("R049 new text goes in by the encoding of the file, or is refused before anything is written", async () => {
  const bench = filesBench();
  bench.put("f", Buffer.from("Größe: schön\nMüller sagt nein\n", "latin1"));
  expect((await bench.run(createReadTool, { path: "f" })).text).toContain("Größe: schön");
  await bench.run(createEditTool, oneEdit("f", "Größe: schön", "Länge: süß"));
  expect(bench.bytes("f")).toEqual(Buffer.from("Länge: süß\nMüller sagt nein\n", "latin1"));
  const before = bench.bytes("f");
  const run = await bench.run(createEditTool, oneEdit("f", "nein", "いいえ"));
  expect(run.isError).toBe(true);
  expect(run.text).toContain('"い"');
  expect(bench.bytes("f")).toEqual(before);
});

it.each(["utf16le", "utf16be"])("R049 a file in %s is edited in its encoding", async (name) => {
  const bench = filesBench();
  const encode = (text: string) => {
    const bytes = Buffer.from(text, "utf16le");
    return name === "utf16le" ? bytes : bytes.swap16();
  };
  bench.put("f", encode("\ufefffirst\r\nsecond ∑\r\nthird\r\n"));
  await bench.run(createEditTool, oneEdit("f", "second ∑\nthird", "2 €\n3"));
  expect(bench.bytes("f")).toEqual(encode("\ufefffirst\r\n2 €\r\n3\r\n"));
  bench.put("plain", encode("first\nsecond\n"));
  await bench.run(createEditTool, oneEdit("plain", "second", "2 €"));
  expect(bench.bytes("plain")).toEqual(encode("first\n2 €\n"));
});

it("R050 a 10 MB file keeps all of its bytes, its mode, and no temporary file", async () => {
  const bench = filesBench();
  const line = "0123456789abcdefghijklmnopqrstuvwxyz\r\n";
  const body = Buffer.from(`first line\r\n${line.repeat(Math.ceil(1e7 / line.length))}`).subarray(0, 1e7);
  bench.put("big", body);
  chmodSync(bench.path("big"), 0o640);
  const run = await bench.run(createEditTool, oneEdit("big", "first line", "the first of all lines"));
  expect(run.isError).toBe(false);
  expect(bench.bytes("big").equals(Buffer.concat([Buffer.from("the first of all lines"), body.subarray(10)]))).toBe(
    true,
  );
  expect(statSync(bench.path("big")).mode & 0o777).toBe(0o640);
  expect(bench.names()).toEqual(["big"]);
  const diff = String(run.details.patch);
  expect(diff).toContain("-first line\r\n+the first of all lines\r\n");
  expect(diff.length).toBeLessThan(500);
  const missing = await bench.run(createEditTool, oneEdit("big", "first line\n0123 and what was never there", "x"));
  expect(missing.isError).toBe(true);
});

it("R051 a repeated boundary line is reported, a failed edit changes nothing", async () => {
  const bench = filesBench();
  bench.put("f", "if (a) {\n  one();\n}\nafter();\n");
  const run = await bench.run(createEditTool, oneEdit("f", "  one();", "  two();\n}"));
  expect(run.text).toMatch(/twice/);
  bench.put("g", "head\nbody\n");
  expect((await bench.run(createEditTool, oneEdit("g", "body", "head\nbody 2"))).text).toMatch(/twice/);
  bench.put("h", "a {\n  b\n}\nc\n");
  expect((await bench.run(createEditTool, oneEdit("h", "  b\n}", "  d\n}"))).text).not.toMatch(/twice/);
  const before = bench.bytes("f");
  const failed = await bench.run(createEditTool, {
    path: "f",
    edits: [
      { oldText: "after();", newText: "later();" },
      { oldText: "never there", newText: "x" },
    ],
  });
  expect(failed.isError).toBe(true);
  expect(failed.text).toContain("edits[1]");
  expect(bench.bytes("f")).toEqual(before);
});

it("R051 a line joined by a missing newline is reported", async () => {
  const bench = filesBench();
  bench.put("f", "a\nb\nc\n");
  const run = await bench.run(createEditTool, oneEdit("f", "b\n", "B"));
  expect(bench.text("f")).toBe("a\nBc\n");
  expect(run.text).toContain("joined");
});

it("R054 touching or rewriting a file is not a modification", async () => {
  const bench = filesBench();
  bench.put("f", "a\r\nb\r\n");
  await bench.run(createReadTool, { path: "f" });
  expect((await bench.run(createEditTool, oneEdit("f", "a", "A"))).text).not.toMatch(/changed on disk/);
  utimesSync(bench.path("f"), new Date(), new Date(Date.now() + 5000));
  expect((await bench.run(createEditTool, oneEdit("f", "b", "B"))).text).not.toMatch(/changed on disk/);
});

it("R059 edit keeps symbolic links", async () => {
  const bench = filesBench();
  bench.put("real", "text\n");
  symlinkSync("real", bench.path("one"));
  symlinkSync(bench.path("one"), bench.path("two"));
  await bench.run(createEditTool, oneEdit("two", "text", "new"));
  expect(lstatSync(bench.path("two")).isSymbolicLink()).toBe(true);
  expect(lstatSync(bench.path("one")).isSymbolicLink()).toBe(true);
  expect(lstatSync(bench.path("real")).isFile()).toBe(true);
  expect(bench.text("real")).toBe("new\n");
});

it("a file with two hard links stays one file", async () => {
  const bench = filesBench();
  bench.put("a", "text\n");
  linkSync(bench.path("a"), bench.path("b"));
  await bench.run(createEditTool, oneEdit("a", "text", "longer text"));
  expect(bench.text("b")).toBe("longer text\n");
  expect(statSync(bench.path("a")).ino).toBe(statSync(bench.path("b")).ino);
});

it("several edits are found in the original content, all or none", async () => {
  const bench = filesBench();
  bench.put("f", "one\ntwo\nthree\n");
  const run = await bench.run(createEditTool, {
    path: "f",
    edits: [
      { oldText: "three", newText: "one" },
      { oldText: "one", newText: "two" },
      { oldText: "two", newText: "three" },
    ],
  });
  expect(run.isError).toBe(false);
  expect(bench.text("f")).toBe("two\nthree\none\n");
  expect(run.details.firstChangedLine).toBe(1);
  const overlap = await bench.run(createEditTool, {
    path: "f",
    edits: [
      { oldText: "two\nthree", newText: "x" },
      { oldText: "three\none", newText: "y" },
    ],
  });
  expect(overlap.text).toContain("overlaps with edits[0]");
  expect(bench.text("f")).toBe("two\nthree\none\n");
});

it.each([
  ["an empty oldText", { edits: [{ oldText: "", newText: "x" }] }, "use write"],
  ["equal texts", { edits: [{ oldText: "b", newText: "b" }] }, "the same"],
  ["no edits", { edits: [] }, "nothing to do"],
  ["an ambiguous text", { edits: [{ oldText: "x", newText: "y" }] }, "lines 1, 3"],
  ["overlapping places", { edits: [{ oldText: "aa", newText: "y" }] }, "ambiguous"],
  ["a change of line ends only", { edits: [{ oldText: "b\nx", newText: "b\r\nx" }] }, "line ends only"],
])("%s is refused and changes nothing", async (_, args, message) => {
  const bench = filesBench();
  bench.put("f", "x\nb\nx\naaa\n");
  const run = await bench.run(createEditTool, { path: "f", ...args });
  expect(run.isError).toBe(true);
  expect(run.text).toContain(message);
  expect(bench.text("f")).toBe("x\nb\nx\naaa\n");
});

it.each([
  ["one edit beside the path", { oldText: "b", newText: "B" }],
  ["edits as JSON text", { edits: '[{"oldText":"b","newText":"B"}]' }],
  ["one edit as an object", { edits: { oldText: "b", newText: "B" } }],
  ["both shapes", { oldText: "b", newText: "B", edits: [] }],
])("the older shape is taken: %s", async (_, args) => {
  const bench = filesBench();
  bench.put("f", "a\nb\n");
  await bench.run(createEditTool, { path: "f", ...args });
  expect(bench.text("f")).toBe("a\nB\n");
});

it("the diff is unified, of the real content, and can be applied", async () => {
  const bench = filesBench();
  const old = Array.from({ length: 60 }, (_, index) => `line ${index}${index % 2 ? "  " : ""}\n`).join("");
  bench.put("f", old);
  const { applyPatch } = await import("diff");
  const run = await bench.run(createEditTool, {
    path: "f",
    edits: [
      { oldText: "line 3  \n", newText: "" },
      { oldText: "line 40\n", newText: "forty\nand one\n" },
      { oldText: "line 59  \n", newText: "end" },
    ],
  });
  expect(run.details.firstChangedLine).toBe(4);
  expect(applyPatch(old, String(run.details.patch))).toBe(readFileSync(bench.path("f"), "utf8"));
  writeFileSync(bench.path("f"), "only line");
  const last = await bench.run(createEditTool, oneEdit("f", "only", "last"));
  expect(last.details.patch).toContain("\\ No newline at end of file");
});

/** Numbers and signs as pi 1.6 writes them for the same change. */
const NUMBERED: [string, { old: string[]; find: string; put: string; shown: string[] }][] = [
  [
    "in the middle",
    {
      old: Array.from({ length: 12 }, (_, index) => `l${index + 1}`),
      find: "l6\nl7",
      put: "n1\nn2\nn3",
      shown: ["    ...", "  3 l3", "  4 l4", "  5 l5", "- 6 l6", "- 7 l7", "+ 6 n1", "+ 7 n2", "+ 8 n3"].concat([
        "  8 l8",
        "  9 l9",
        " 10 l10",
        "    ...",
      ]),
    },
  ],
  ["of the first of two lines", { old: ["a", "b"], find: "a", put: "c", shown: ["-1 a", "+1 c", " 2 b"] }],
  ["that takes a line away", { old: ["a", "b", "c"], find: "b\n", put: "", shown: [" 1 a", "-2 b", " 3 c"] }],
];

it.each(NUMBERED)("R294 the details of an edit %s have the diff in numbered lines", async (_name, edit) => {
  const bench = filesBench();
  bench.put("f", `${edit.old.join("\n")}\n`);
  const run = await bench.run(createEditTool, oneEdit("f", edit.find, edit.put));
  expect(String(run.details.diff).split("\n")).toEqual(edit.shown);
});
