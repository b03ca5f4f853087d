import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeTerminalBytes } from "./terminal-bytes.ts";
import { cleanTerminalText, printableName } from "./terminal-text.ts";

describe("cleanTerminalText", () => {
  it.each([
    ["colours", "\x1b[1;31mred\x1b[0m", "red"],
    ["clear screen, alternate screen, reset", "\x1b[2J\x1b[?1049hx\x1bc", "x"],
    ["a title, ended by BEL", "\x1b]0;a b\x07x", "x"],
    ["a title, ended by ST", "\x1b]0;a b\x1b\\x", "x"],
    ["a hyperlink", "\x1b]8;;http://a\x1b\\text\x1b]8;;\x1b\\", "text"],
    ["the clipboard", "\x1b]52;c;aGk=\x07x", "x"],
    ["a title without an end", "\x1b]0;title\nnext", "\nnext"],
    ["device control", "\x1bPq#0;2;0\n0;0\x1b\\x", "x"],
    ["device control without an end", "\x1bPq1\nnext", "\nnext"],
    ["8-bit forms", "\x9b31mred\x9d0;t\x9cx\x90q\x9cy", "redxy"],
    ["character sets", "\x1b(Bx\x1b)0y", "xy"],
    ["a sequence cut at the end", "x\x1b[3", "x"],
    ["bell, NUL, shift out", "a\x07\x00\x0eb", "ab"],
    ["CRLF", "a\r\nb\r\n", "a\nb\n"],
    ["a progress line", "10%\r50%\r100%\ndone", "100%\ndone"],
    ["a progress line that ends in a return", "10%\r100%\r", "100%"],
    ["a spinner", "\x1b[1G|\x1b[1G/\x1b[Gdone", "done"],
    ["overstrike", "b\bbo\bol\bld\bd _\bu", "bold u"],
    ["a backspace over a wide character", "😀\bx", "x"],
    ["more backspaces than text", "a\n\b\b\bx", "a\nx"],
    ["tabs and newlines stay", "a\tb\n\n", "a\tb\n\n"],
  ])("R135 %s", (_name, text, expected) => {
    expect(cleanTerminalText(text)).toBe(expected);
  });

  it.each([
    ["what a shorter record does not cover stays", "first record\rnext", "nextt record"],
    ["a shorter drawing that erases the rest", "10 of 100 files\r\x1b[Kdone", "done"],
    ["a line that is cleared before each drawing", "a long line\r\x1b[2Kshort", "short"],
    ["a line that is cleared where the cursor is", "a long line\x1b[2Kshort", "a long lineshort"],
    ["a drawing that erases what follows it", "10 of 100\r20\x1b[K", "20"],
    ["a line that is cleared with spaces at last", "working\r       \r", "working"],
    ["a line that is erased at last", "working\r\x1b[K\n", "working\n"],
    ["spaces before the end of a CRLF line", "a  \r\nb", "a  \nb"],
    ["a doubled return", "a  \r\r\nb", "a  \nb"],
    ["a wide character", "ab\r盛", "盛b"],
  ])("R253 %s", (_what, text, expected) => {
    expect(cleanTerminalText(text)).toBe(expected);
  });

  it("keeps all the text of a file with carriage returns", () => {
    expect(cleanTerminalText("a\rb\r\n", { carriageReturn: "drop" })).toBe("ab\n");
  });

  const unit = fc.constantFrom(
    "\x1b",
    "[",
    "]",
    "P",
    "\\",
    "\x07",
    "\x9b",
    "\x9c",
    "\x90",
    ";",
    "3",
    "m",
    "a",
    "\n",
    "\r",
    "\b",
    "\0",
    "é",
  );

  it("R135 leaves nothing that a terminal acts on, and is stable", () => {
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 60 }), (text) => {
        const clean = cleanTerminalText(text);
        expect(clean).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
        expect(cleanTerminalText(clean)).toBe(clean);
      }),
    );
  });

  it("never takes away a plain line after a broken sequence", () => {
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 20 }), (noise) => {
        expect(cleanTerminalText(`${noise.replaceAll("\b", "")}\nplain text`)).toMatch(/plain text$/);
      }),
    );
  });

  it.each([
    "\x1b]0;",
    "\x1bP",
    "\x90",
    "\x1b[",
    "\x9b1;",
    "\b",
    "\r",
    "a\b",
    "\x1b",
    "a\x1b[K",
    "\ra",
    "\r ",
    "a\r\x1b[2K",
  ])("is linear in %j", (piece) => {
    // Quadratic work on 2 MB would take minutes.
    expect(cleanTerminalText(piece.repeat(2_000_000 / piece.length)).length).toBeLessThan(2_000_001);
  });
});

describe("decodeTerminalBytes", () => {
  it("R078 knows a lone 0x9b from one inside a character", () => {
    const lone = Buffer.from([0x41, 0x9b, 0x33, 0x31, 0x6d, 0x42]);
    expect(decodeTerminalBytes(Buffer.concat([lone, Buffer.from("盛\u{1F6DB}é"), Buffer.from([0xff])]))).toBe(
      "AB盛\u{1F6DB}é\ufffd",
    );
  });

  it("R078 is UTF-8 for all text without control characters", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const plain = text.replace(/[\x00-\x1f\x7f-\x9f]/g, "");
        expect(decodeTerminalBytes(Buffer.from(plain))).toBe(plain);
      }),
    );
  });
});

it("printableName writes control characters as escapes", () => {
  expect(printableName("a\nb\x1b\x9b é")).toBe("a\\nb\\x1b\\x9b é");
});
