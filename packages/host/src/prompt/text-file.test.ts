import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findContextFiles } from "./context-files.ts";
import { findSkills } from "./skills.ts";
import { findTemplates } from "./templates.ts";
import { readTextHead } from "./text-file.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "tau-text-")));
});
afterEach(() => rmSync(root, { recursive: true }));

const bytesOf = (...parts: (string | Buffer)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : part)));
const utf16be = (text: string) => Buffer.from(text, "utf16le").swap16();
function utf32le(text: string): Buffer {
  return Buffer.concat(
    [...text].map((char) => {
      const unit = Buffer.alloc(4);
      unit.writeUInt32LE(char.codePointAt(0) ?? 0);
      return unit;
    }),
  );
}

const TEXT = "Größe und Maß: café\n";

describe("the texts of a prompt", () => {
  const encodings: [string, Buffer, string][] = [
    ["UTF-8", Buffer.from(TEXT), TEXT],
    ["UTF-8 with a mark", bytesOf("\xef\xbb\xbf", Buffer.from(TEXT)), TEXT],
    ["UTF-8 with a bad byte", bytesOf(Buffer.from(TEXT), "\xff\n"), `${TEXT}\ufffd\n`],
    ["CRLF", Buffer.from(TEXT.replace("\n", "\r\n")), TEXT],
    ["UTF-16LE with a mark", bytesOf("\xff\xfe", Buffer.from(TEXT, "utf16le")), TEXT],
    ["UTF-16BE with a mark", bytesOf("\xfe\xff", utf16be(TEXT)), TEXT],
    ["UTF-16LE without a mark", Buffer.from(TEXT, "utf16le"), TEXT],
    ["UTF-16BE without a mark", utf16be(TEXT), TEXT],
    ["UTF-32 with a mark", bytesOf("\xff\xfe\0\0", utf32le(TEXT)), TEXT],
    ["Latin-1", bytesOf(TEXT), TEXT],
    ["windows-1252", bytesOf("\x93Gr\xf6\xdfe\x94 in \x80\n"), "“Größe” in €\n"],
  ];

  it.each(encodings)("R235 are read in %s", (_name, bytes, text) => {
    writeFileSync(join(root, "AGENTS.md"), bytes);
    expect(readTextHead(join(root, "AGENTS.md"), 1000)).toEqual({ text, bytes: bytes.length, cut: false });
    const { files } = findContextFiles({ tauDir: join(root, "home"), cwd: root, names: ["AGENTS.md"] });
    expect(files.map((file) => file.text)).toEqual([text.trim()]);
    mkdirSync(join(root, "skill"));
    writeFileSync(join(root, "skill/SKILL.md"), bytes);
    expect(findSkills([join(root, "skill")]).skills).toMatchObject([{ description: text.trim().split("\n")[0] }]);
    expect(findTemplates([join(root, "AGENTS.md")]).templates).toMatchObject([{ body: text.trim() }]);
  });

  it.each<[string, Buffer, RegExp]>([
    ["KOI8-R", bytesOf("\xf0\xd2\xc9\xd7\xc5\xd4 \xcd\xc9\xd2\n"), /encoding is not known; save it as UTF-8/],
    ["Shift JIS", bytesOf("\x82\xb1\x82\xf1\x82\xc9\x82\xbf\x82\xcd\n"), /encoding is not known; save it as UTF-8/],
    ["an image", bytesOf("\x89PNG\r\n\x1a\n", Buffer.alloc(20)), /is an image/],
    ["a program", bytesOf("\x7fELF\x02\x01\x01"), /not a text/],
    ["zero bytes", bytesOf("bin\0ary"), /not a text/],
  ])("R235 say why they are not read in %s", (_name, bytes, reason) => {
    writeFileSync(join(root, "AGENTS.md"), bytes);
    const { files, warnings } = findContextFiles({ tauDir: join(root, "home"), cwd: root, names: ["AGENTS.md"] });
    expect([files, warnings]).toEqual([[], [expect.stringMatching(reason)]]);
  });

  it("R235 are read whole where the file says that its size is 0, and cut at a character", () => {
    const head = readTextHead("/proc/self/status", 100_000);
    expect(head).toMatchObject({ text: expect.stringMatching(/^Name:[\s\S]*\nPid:/), cut: false });
    writeFileSync(join(root, "long.md"), "aö".repeat(10));
    expect(readTextHead(join(root, "long.md"), 5)).toEqual({ text: "aöa", bytes: 30, cut: true });
  });

  it("never wait for a pipe that a project put there", () => {
    execFileSync("mkfifo", [join(root, "AGENTS.md")]);
    expect(readTextHead(join(root, "AGENTS.md"), 100)).toEqual({ reason: "it is not a regular file" });
    expect(readTextHead(join(root, "nothing"), 100)).toBe(undefined);
  });
});
