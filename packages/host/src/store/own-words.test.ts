import { describe, expect, it } from "vitest";
import { ownWords } from "./own-words.ts";

const file = (name: string, text = "content") => `<file name="${name}">\n${text}\n</file>`;

describe("ownWords", () => {
  it.each([
    ["a plain prompt", "Fix it.", "Fix it."],
    ["a file and words", `${file("a.ts")}\n\nFix it.`, "Fix it."],
    ["several files and words", `${file("a.ts")}\n${file("b.ts")}\n\nFix both.`, "Fix both."],
    ["a file that holds the mark of a file's end", `${file("a.md", "x\n</file>\ny")}\n\nFix it.`, "Fix it."],
    ["a file without words", file("src/a.ts"), "@src/a.ts"],
    ["files without words", `${file("a.ts")}\n${file("b.ts")}`, "@a.ts @b.ts"],
    ["words that speak of a file", 'Say what <file name="x"> means.', 'Say what <file name="x"> means.'],
    ["a file that was cut off", '<file name="a.ts">\ncon', "@a.ts"],
  ])("R275 gives the user's words of %s", (_, prompt, words) => {
    expect(ownWords(prompt)).toBe(words);
  });

  it("R275 stays linear on many files", () => {
    expect(ownWords(file("a").concat("\n").repeat(50_000))).toMatch(/^@a @a /);
  });
});
