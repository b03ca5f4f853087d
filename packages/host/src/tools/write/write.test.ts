import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { expect, it } from "vitest";
import { asNobody, filesBench, isRoot, oneEdit } from "../__fixtures__/files-bench.ts";
import { createEditTool } from "../edit/edit-tool.ts";
import { createWriteTool } from "./write-tool.ts";

const NOBODY = 65534;

it("write makes folders, says created or overwritten with the bytes, and gives a diff", async () => {
  const bench = filesBench();
  const created = await bench.run(createWriteTool, { path: "a/b/c.txt", content: "é\n" });
  expect(created.text).toBe("Created a/b/c.txt (3 bytes).");
  expect(created.details).toEqual({ created: true, bytes: 3 });
  const over = await bench.run(createWriteTool, { path: "a/b/c.txt", content: "e\nf\n" });
  expect(over.text).toBe("Overwrote a/b/c.txt (4 bytes, was 3 bytes).");
  expect(over.details.diff).toContain("-é\n+e\n+f\n");
  expect(bench.names("a/b")).toEqual(["c.txt"]);
  await bench.run(createWriteTool, { path: "empty", content: "" });
  expect(bench.text("empty")).toBe("");
});

it("write writes line ends as they were sent", async () => {
  const bench = filesBench();
  bench.put("f", "a\r\nb\r\n");
  await bench.run(createWriteTool, { path: "f", content: "a\nb\r\nc" });
  expect(bench.text("f")).toBe("a\nb\r\nc");
});

it("R047 a file in UTF-16 with a mark stays one when it is overwritten", async () => {
  const bench = filesBench();
  bench.put("f", Buffer.from("\ufeffold", "utf16le"));
  await bench.run(createWriteTool, { path: "f", content: "new ∑\n" });
  expect(bench.bytes("f")).toEqual(Buffer.from("\ufeffnew ∑\n", "utf16le"));
});

it("R059 a chain of links, relative and absolute, stays and its target changes", async () => {
  const bench = filesBench();
  bench.put("target/real", "old");
  mkdirSync(bench.path("links"));
  symlinkSync("../target/real", bench.path("links/a"));
  symlinkSync(bench.path("links/a"), bench.path("links/b"));
  symlinkSync("links/b", bench.path("c"));
  await bench.run(createWriteTool, { path: "c", content: "new" });
  expect(bench.text("target/real")).toBe("new");
  expect(readlinkSync(bench.path("c"))).toBe("links/b");
  expect(readlinkSync(bench.path("links/a"))).toBe("../target/real");
  symlinkSync("target", bench.path("folder"));
  await bench.run(createWriteTool, { path: "folder/real", content: "newer" });
  expect(lstatSync(bench.path("folder")).isSymbolicLink()).toBe(true);
  expect(bench.text("target/real")).toBe("newer");
});

it("R059 a dangling link gets its target, with folders, and a loop is refused", async () => {
  const bench = filesBench();
  symlinkSync("made/here", bench.path("dangling"));
  symlinkSync("dangling", bench.path("second"));
  expect((await bench.run(createWriteTool, { path: "second", content: "x" })).isError).toBe(false);
  expect(lstatSync(bench.path("dangling")).isSymbolicLink()).toBe(true);
  expect(bench.text("made/here")).toBe("x");
  symlinkSync("y", bench.path("x"));
  symlinkSync("x", bench.path("y"));
  const loop = await bench.run(createWriteTool, { path: "x", content: "x" });
  expect(loop.isError).toBe(true);
  expect(loop.text).toContain("loop");
  expect(bench.names().filter((name) => name.endsWith(".tmp"))).toEqual([]);
});

it("mode bits of an existing file are kept, a new one follows the umask", async () => {
  const bench = filesBench();
  bench.put("script", "old");
  chmodSync(bench.path("script"), 0o6751);
  await bench.run(createWriteTool, { path: "script", content: "new" });
  expect(statSync(bench.path("script")).mode & 0o7777).toBe(0o6751);
  await bench.run(createEditTool, oneEdit("script", "new", "newer"));
  expect(statSync(bench.path("script")).mode & 0o7777).toBe(0o6751);
  await bench.run(createWriteTool, { path: "fresh", content: "x" });
  expect(statSync(bench.path("fresh")).mode & 0o777).toBe(0o666 & ~process.umask());
});

it("the owner of a file is kept", async ({ skip }) => {
  skip(!isRoot, "giving a file away needs root");
  const bench = filesBench();
  bench.put("f", "old");
  chownSync(bench.path("f"), NOBODY, NOBODY);
  await bench.run(createWriteTool, { path: "f", content: "new" });
  expect(statSync(bench.path("f"))).toMatchObject({ uid: NOBODY, gid: NOBODY });
});

it("a file with two hard links is written in place", async () => {
  const bench = filesBench();
  bench.put("a", "a long old text");
  linkSync(bench.path("a"), bench.path("b"));
  await bench.run(createWriteTool, { path: "a", content: "new" });
  expect(bench.text("b")).toBe("new");
});

it("folders, pipes and devices are refused", async () => {
  const bench = filesBench();
  mkdirSync(bench.path("d"));
  execFileSync("mkfifo", [bench.path("pipe")]);
  symlinkSync("/dev/null", bench.path("null"));
  bench.put("file", "x");
  const refusals: [string, string][] = [
    ["d", "is a folder"],
    ["d/", "folder"],
    [".", "folder"],
    ["pipe", "named pipe"],
    ["null", "character device"],
    ["file/below", "not a folder"],
    [`${"n".repeat(300)}`, "too long"],
    ["", "empty"],
    ["a\0b", "NUL"],
  ];
  for (const [path, reason] of refusals) {
    const run = await bench.run(createWriteTool, { path, content: "y" });
    expect(run.isError, path).toBe(true);
    expect(run.text, path).toContain(reason);
  }
  expect(bench.names()).toEqual(["d", "file", "null", "pipe"]);
});

it("a read-only file and a read-only folder are refused, and nothing is left behind", async () => {
  const bench = filesBench();
  chmodSync(bench.environment.cwd, 0o777);
  chmodSync(`${bench.environment.cwd}/..`, 0o777);
  bench.put("locked", "old");
  chmodSync(bench.path("locked"), 0o444);
  mkdirSync(bench.path("folder"));
  bench.put("folder/open", "old");
  chmodSync(bench.path("folder/open"), 0o666);
  chmodSync(bench.path("folder"), 0o555);
  await asNobody(async () => {
    const file = await bench.run(createWriteTool, { path: "locked", content: "new" });
    expect(file.text).toContain("permission denied");
    const edit = await bench.run(createEditTool, oneEdit("locked", "old", "new"));
    expect(edit.text).toContain("permission denied");
    expect((await bench.run(createWriteTool, { path: "folder/new", content: "new" })).text).toContain(
      "permission denied",
    );
  });
  expect(bench.text("locked")).toBe("old");
  expect(bench.names("folder")).toEqual(["open"]);
  chmodSync(bench.path("folder"), 0o755);
});

it("R242 a writable file in a folder that takes no new files is written in place", async () => {
  const bench = filesBench();
  chmodSync(bench.environment.cwd, 0o777);
  chmodSync(`${bench.environment.cwd}/..`, 0o777);
  bench.put("folder/open", "old");
  chmodSync(bench.path("folder/open"), 0o666);
  chmodSync(bench.path("folder"), 0o555);
  await asNobody(async () => {
    expect((await bench.run(createWriteTool, { path: "folder/open", content: "new" })).isError).toBe(false);
    expect((await bench.run(createEditTool, oneEdit("folder/open", "new", "newer"))).isError).toBe(false);
  });
  expect(bench.text("folder/open")).toBe("newer");
  expect(bench.names("folder")).toEqual(["open"]);
  chmodSync(bench.path("folder"), 0o755);
});

/** An access list of Linux in its stored form: user 65534 may read and write, the group nothing. */
const ACL = "02000000010006 00ffffffff020006 00feff0000040000 00ffffffff100006 00ffffffff200000 00ffffffff".replaceAll(
  " ",
  "",
);

it("R243 access list and extended attributes of a file are kept, and no right is added", async (context) => {
  const bench = filesBench();
  const path = bench.put("f", "old");
  chmodSync(path, 0o600);
  const python = (code: string) => execFileSync("python3", ["-c", `import os; p=${JSON.stringify(path)}; ${code}`]);
  const show = () =>
    python("print(sorted((n, os.getxattr(p, n).hex()) for n in os.listxattr(p)), oct(os.stat(p).st_mode))").toString();
  try {
    python(`os.setxattr(p, 'user.note', b'kept'); os.setxattr(p, 'system.posix_acl_access', bytes.fromhex('${ACL}'))`);
  } catch {
    // No python, or a file system without them.
    return context.skip();
  }
  const before = show();
  expect((await bench.run(createWriteTool, { path: "f", content: "new" })).isError).toBe(false);
  expect((await bench.run(createEditTool, oneEdit("f", "new", "newer"))).isError).toBe(false);
  expect(bench.text("f")).toBe("newer");
  expect(show()).toBe(before);
});

/** A file system of 64 KB, where the test may make one. */
function mountSmallDisk(folder: string): boolean {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], { stdio: "ignore" });
    return true;
  } catch {
    // Not root, or in a container without the right.
    return false;
  }
}

it("a full disk leaves the old file whole and no temporary file", async (context) => {
  const bench = filesBench();
  mkdirSync(bench.path("disk"));
  if (!mountSmallDisk(bench.path("disk"))) return context.skip("mounting a small disk needs root");
  try {
    bench.put("disk/f", "old");
    bench.put("disk/linked", "old and linked");
    linkSync(bench.path("disk/linked"), bench.path("disk/second"));
    for (const path of ["disk/f", "disk/new", "disk/linked"]) {
      const run = await bench.run(createWriteTool, { path, content: "x".repeat(100_000) });
      expect(run.isError, path).toBe(true);
      expect(run.text, path).toContain("no space is left");
    }
    expect(bench.text("disk/f")).toBe("old");
    expect(bench.text("disk/second")).toBe("old and linked");
    expect(bench.names("disk")).toEqual(["f", "linked", "second"]);
  } finally {
    execFileSync("umount", [bench.path("disk")]);
  }
});

it("an aborted call that waits in the queue writes nothing", async () => {
  const bench = filesBench();
  const tool = createWriteTool(bench.environment);
  const stop = new AbortController();
  const first = tool.execute("1", { path: "f", content: "first" }, new AbortController().signal, () => undefined);
  const second = tool.execute("2", { path: "f", content: "second" }, stop.signal, () => undefined);
  stop.abort();
  await first;
  await expect(second).rejects.toThrow();
  expect(bench.text("f")).toBe("first");
});

it("R069 write takes its path exactly, `@` and special characters included, and `~` is the home", async () => {
  const bench = filesBench();
  writeFileSync(bench.path("a\u00a0b"), "old");
  bench.put("types/x.d.ts", "old");
  await bench.run(createWriteTool, { path: "a b", content: "new" });
  await bench.run(createWriteTool, { path: "@types/x.d.ts", content: "new" });
  await bench.run(createWriteTool, { path: "~/f", content: "new" });
  expect(bench.text("a\u00a0b")).toBe("old");
  expect(bench.text("types/x.d.ts")).toBe("old");
  expect(bench.names()).toEqual(["@types", "a b", "a\u00a0b", "types"]);
  expect(bench.text("../home/f")).toBe("new");
});
