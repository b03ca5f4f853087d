import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, truncateSync } from "node:fs";
import { expect, it } from "vitest";
import { asNobody, filesBench } from "../__fixtures__/files-bench.ts";
import { createReadTool } from "./read-tool.ts";

const lines = (count: number, from = 1) =>
  Array.from({ length: count }, (_, index) => `line ${from + index}\n`).join("");

it("a short text is given as it is", async () => {
  const bench = filesBench();
  for (const text of ["a\nb\n", "a\nb", "\n", "é “x” 😀\n", "\ttabs\rand lone returns\n"]) {
    bench.put("f", text);
    expect((await bench.run(createReadTool, { path: "f" })).text).toBe(text);
  }
});

it("offset and limit choose lines, and a note says how to continue", async () => {
  const bench = filesBench();
  bench.put("f", lines(5000));
  const first = await bench.run(createReadTool, { path: "f" });
  expect(first.text).toBe(`${lines(2000)}\n[Showing lines 1-2000 of 5000. Use offset=2001 to continue.]`);
  const next = await bench.run(createReadTool, { path: "f", offset: 2001, limit: 3 });
  expect(next.text).toBe(`${lines(3, 2001)}\n[Showing lines 2001-2003 of 5000. Use offset=2004 to continue.]`);
  const last = await bench.run(createReadTool, { path: "f", offset: 4999 });
  expect(last.text).toBe(lines(2, 4999));
  expect(last.details).toMatchObject({ firstLine: 4999, lines: 2, totalLines: 5000, truncated: false });
  expect((await bench.run(createReadTool, { path: "f", limit: 9999 })).text).toBe(first.text);
});

it("50 KB end a read before 2,000 lines do, at a whole line", async () => {
  const bench = filesBench();
  bench.put("f", `${"x".repeat(99)}\n`.repeat(1000));
  const run = await bench.run(createReadTool, { path: "f" });
  expect(run.text).toContain("[Showing lines 1-512 of 1000. Use offset=513 to continue.]");
  const all: string[] = [];
  for (let offset = 1; offset <= 1000; ) {
    const { text, details } = await bench.run(createReadTool, { path: "f", offset });
    all.push(text.split("\n\n[")[0] ?? "");
    offset += Number(details.lines);
  }
  expect(all.map((text) => (text.endsWith("\n") ? text : `${text}\n`)).join("")).toBe(bench.text("f"));
});

it("a file that ends at the limits needs no note", async () => {
  const bench = filesBench();
  for (const text of [lines(2000), lines(2000).slice(0, -1), `${"x".repeat(51_199)}\n`, "x".repeat(51_200)]) {
    bench.put("f", text);
    expect((await bench.run(createReadTool, { path: "f" })).text === text).toBe(true);
  }
  bench.put("f", "x".repeat(51_201));
  expect((await bench.run(createReadTool, { path: "f" })).text).toContain("Line 1 is longer than 50.0 KB");
});

it("an empty file and an offset beyond the end are said", async () => {
  const bench = filesBench();
  bench.put("empty", "");
  bench.put("f", "a\nb");
  expect((await bench.run(createReadTool, { path: "empty" })).text).toContain("empty");
  const beyond = await bench.run(createReadTool, { path: "f", offset: 3 });
  expect(beyond).toMatchObject({ isError: true, text: "offset 3 is beyond the end: f has 2 lines." });
  expect((await bench.run(createReadTool, { path: "empty", offset: 2 })).text).toContain("has 0 lines");
  expect((await bench.run(createReadTool, { path: "f", offset: -1 })).isError).toBe(true);
  expect((await bench.run(createReadTool, { path: "f", limit: 0 })).isError).toBe(true);
  expect((await bench.run(createReadTool, { path: "f", offset: 0 })).text).toBe("a\nb");
});

it("R055 the first line of a sparse file of 2 GB", async () => {
  const bench = filesBench();
  truncateSync(bench.put("big.txt", "the first line\nsecond\n"), 2 * 1024 ** 3);
  const run = await bench.run(createReadTool, { path: "big.txt", limit: 1 });
  expect(run.text).toBe("the first line\n\n[Showing lines 1-1; the file has 2.0 GB. Use offset=2 to continue.]");
  const holes = await bench.run(createReadTool, { path: "big.txt", offset: 3 });
  expect(holes.text).toContain("zero bytes]");
  expect(holes.text.length).toBeLessThan(1000);
});

it("R055 lines deep in a large log, and a line of 300 MB, in little memory", async () => {
  const bench = filesBench();
  const path = bench.put("log", "");
  execFileSync("sh", [
    "-c",
    `yes 'a line of a log that is long enough to count for something' | head -n 2000000 > ${path}`,
  ]);
  const huge = bench.put("huge", "");
  execFileSync("sh", ["-c", `head -c 300000000 /dev/zero | tr '\\0' x > ${huge}; printf '\\nlast\\n' >> ${huge}`]);
  await bench.run(createReadTool, { path: "log", limit: 1 });
  const before = process.memoryUsage().rss;
  const deep = await bench.run(createReadTool, { path: "log", offset: 1_000_000, limit: 5 });
  expect(deep.text).toContain("[Showing lines 1000000-1000004; the file has");
  const cut = await bench.run(createReadTool, { path: "huge" });
  expect(cut.text).toContain("[Line 1 is longer than 50.0 KB; only its head is shown. Use offset=2");
  expect(cut.text).toContain("tail -c +51201 'huge' | head -c 50000");
  expect((await bench.run(createReadTool, { path: "huge", offset: 2 })).text).toBe("last\n");
  expect(process.memoryUsage().rss - before).toBeLessThan(20 * 1024 * 1024);
});

it("a cut line ends at a whole character", async () => {
  const bench = filesBench();
  bench.put("f", `a${"é".repeat(60_000)}`);
  const run = await bench.run(createReadTool, { path: "f" });
  expect(run.text).toMatch(/^aé+\n\n\[/);
  expect(run.text).toContain("tail -c +51200 ");
});

it.each([
  ["an ELF program", Buffer.from("\x7fELF\x02\x01\x01\0\0\0", "latin1"), "ELF"],
  ["a zip", Buffer.from("PK\x03\x04\x14\0\0\0", "latin1"), "zip"],
  ["an SQLite database", Buffer.from("SQLite format 3\0\x10\0", "latin1"), "SQLite"],
  ["gzip", Buffer.from([0x1f, 0x8b, 8, 0, 1]), "gzip"],
  ["a PDF", Buffer.from("%PDF-1.7\nhello"), "PDF"],
  ["a Windows program", Buffer.from("MZ\x90\0\x03\0\0\0", "latin1"), "Windows program"],
  ["a tar", Buffer.concat([Buffer.from("name\0".padEnd(257, "\0")), Buffer.from("ustar\0")]), "tar"],
  [
    "random bytes",
    Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 7919 + (index >> 3)) & 255)),
    "unknown",
  ],
  ["small numbers", Buffer.from(Uint32Array.from({ length: 500 }, (_, index) => index).buffer), "unknown"],
  ["zero bytes", Buffer.alloc(100), "zero bytes"],
  ["texts that end in zero bytes", Buffer.from("one\0two\0three\0"), "unknown"],
])("R057 %s is refused with type and size", async (_, bytes, type) => {
  const bench = filesBench();
  bench.put("file.txt", bytes);
  const run = await bench.run(createReadTool, { path: "file.txt" });
  expect(run.isError).toBe(true);
  expect(run.text).toContain(type);
  expect(run.text).toMatch(/\d (bytes|KB)/);
  expect(run.text.length).toBeLessThan(300);
});

it.each(["utf16le", "utf16be"])("R057 %s is decoded, with a mark and without", async (name) => {
  const bench = filesBench();
  const encode = (text: string) => {
    const bytes = Buffer.from(text, "utf16le");
    return name === "utf16le" ? bytes : bytes.swap16();
  };
  for (const mark of ["\ufeff", ""]) {
    bench.put("f", encode(`${mark}first\r\nsecond ∑\nthird\n`));
    const run = await bench.run(createReadTool, { path: "f" });
    expect(run.text).toMatch(/^first\nsecond ∑\nthird\n/);
    expect(run.text).not.toContain("\ufeff");
    expect((await bench.run(createReadTool, { path: "f", offset: 2, limit: 1 })).text).toMatch(/^second ∑\n/);
    expect((await bench.run(createReadTool, { path: "f", offset: 4 })).text).toContain("has 3 lines");
  }
});

it("R057 text with escape sequences, and a text that begins like a program, are text", async () => {
  const bench = filesBench();
  for (const text of ["\x1b[31mred\x1b[0m\n", "MZ is a magic number\n", "BM\n", "ID3 tags\n", "RIFF raff\n"]) {
    bench.put("f", text);
    expect((await bench.run(createReadTool, { path: "f" })).text).toBe(text);
  }
});

it("older encodings are decoded and named", async () => {
  const bench = filesBench();
  bench.put("f", Buffer.from("déjà vu, naïve façade\n", "latin1"));
  expect((await bench.run(createReadTool, { path: "f" })).text).toContain("déjà vu, naïve façade\n");
  bench.put("f", Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2, 0x20, 0xec, 0xe8, 0xf0, 0x0a]));
  const cyrillic = await bench.run(createReadTool, { path: "f" });
  expect(cyrillic.text).toContain("Привет мир\n\n[Encoding: windows-1251]");
});

it("CRLF is shown as LF, with a note", async () => {
  const bench = filesBench();
  bench.put("f", "a\r\nb\r\n");
  expect((await bench.run(createReadTool, { path: "f" })).text).toBe("a\nb\n\n[Line ends: CRLF]");
  bench.put("f", "a\r\nb\n");
  expect((await bench.run(createReadTool, { path: "f" })).text).toBe("a\nb\n\n[Line ends: CRLF and LF mixed]");
});

it("folders, pipes, devices and missing files are errors at once", async () => {
  const bench = filesBench();
  mkdirSync(bench.path("d"));
  bench.put("d/inside.txt", "x");
  execFileSync("mkfifo", [bench.path("pipe")]);
  symlinkSync("/dev/zero", bench.path("zero"));
  symlinkSync("loop", bench.path("loop"));
  const refusals: [string, string][] = [
    ["d", "is a folder, not a file. It holds: inside.txt"],
    ["pipe", "named pipe"],
    ["zero", "character device"],
    ["/dev/zero", "character device"],
    ["d/inside.txt/x", "does not exist"],
    ["loop", "loop"],
    ["", "empty"],
  ];
  for (const [path, reason] of refusals) {
    const run = await bench.run(createReadTool, { path });
    expect(run.isError, path).toBe(true);
    expect(run.text, path).toContain(reason);
  }
});

it("R067 a missing file is an error with the near names of its folder", async () => {
  const bench = filesBench();
  bench.put("src/index.ts", "x");
  bench.put("src/unrelated.txt", "x");
  const run = await bench.run(createReadTool, { path: "src/indx.ts" });
  expect(run.isError).toBe(true);
  expect(run.text).toContain("Near names in src: index.ts.");
  expect(run.text).not.toContain("unrelated");
  expect((await bench.run(createReadTool, { path: "index.ts" })).text).toContain("src/index.ts");
});

it.each([
  ["a narrow no-break space", "a\u202fPM.txt", "a PM.txt"],
  ["a no-break space", "a\u00a0b.txt", "a b.txt"],
  ["a decomposed accent", "e\u0301.txt", "\u00e9.txt"],
  ["a composed accent", "\u00e9.txt", "e\u0301.txt"],
  ["a curly apostrophe", "d\u2019e.txt", "d'e.txt"],
])("R069 a name with %s is found by its bytes and by what it looks like", async (_, exact, plain) => {
  const bench = filesBench();
  bench.put(`folder ${exact}/${exact}`, "content\n");
  expect((await bench.run(createReadTool, { path: `folder ${exact}/${exact}` })).text).toBe("content\n");
  const run = await bench.run(createReadTool, { path: `folder ${plain}/${plain}` });
  expect(run.text).toMatch(/^content\n\n\[The exact name is /);
});

it("R069 of two names that look the same the exact one wins, and without one both are named", async () => {
  const bench = filesBench();
  bench.put("a\u202fb.txt", "narrow");
  bench.put("a\u00a0b.txt", "wide");
  const run = await bench.run(createReadTool, { path: "a b.txt" });
  expect(run.isError).toBe(true);
  expect(run.text).toContain('"a\\u202fb.txt"');
  expect(run.text).toContain('"a\\u00a0b.txt"');
  expect((await bench.run(createReadTool, { path: "a\u00a0b.txt" })).text).toBe("wide");
  bench.put("a b.txt", "plain");
  expect((await bench.run(createReadTool, { path: "a b.txt" })).text).toBe("plain");
});

it("a leading `@` and `~` are understood, a file that really begins so comes first", async () => {
  const bench = filesBench();
  bench.put("f", "plain");
  bench.put("../home/g", "home");
  expect((await bench.run(createReadTool, { path: "@f" })).text).toBe("plain");
  bench.put("@f", "with at");
  expect((await bench.run(createReadTool, { path: "@f" })).text).toBe("with at");
  expect((await bench.run(createReadTool, { path: "~/g" })).text).toBe("home");
  expect((await bench.run(createReadTool, { path: bench.path("f") })).text).toBe("plain");
});

it("a file that may not be read is said to be so", async () => {
  const bench = filesBench();
  chmodSync(`${bench.cwd}/..`, 0o755);
  chmodSync(bench.put("secret", "x"), 0o000);
  bench.put("closed/f", "x");
  chmodSync(bench.path("closed"), 0o000);
  await asNobody(async () => {
    expect((await bench.run(createReadTool, { path: "secret" })).text).toContain("permission denied");
    expect((await bench.run(createReadTool, { path: "closed/f" })).text).toContain("permission denied");
  });
  chmodSync(bench.path("closed"), 0o755);
});

it("R234 says of a link to nowhere what it is", async () => {
  const bench = filesBench();
  symlinkSync("nowhere", bench.path("broken"));
  const { isError, text } = await bench.run(createReadTool, { path: "broken" });
  expect([isError, text]).toEqual([true, "broken is a link to a file that does not exist."]);
});

it("R236 says what to do about a name that is not UTF-8", async () => {
  const { isError, text } = await filesBench().run(createReadTool, { path: "bad-\ufffd.txt" });
  expect(isError).toBe(true);
  expect(text).toMatch(/does not exist\. In listings \ufffd stands for bytes that are not UTF-8; rename the file/);
});
