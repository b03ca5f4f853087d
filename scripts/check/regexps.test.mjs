import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseAst } from "rolldown/parseAst";
import { expect, onTestFinished, test } from "vitest";
import { checkRegexps, judge, patternsOf } from "./regexps.mjs";

function source(text) {
  return {
    path: "a.ts",
    text,
    program: parseAst(text, { lang: "ts" }),
    lineOf: (node) => text.slice(0, node.start).split("\n").length,
  };
}

test.each([
  ["spaces at the end", /\s+$/],
  ["a run in front of something", /\r*\n/],
  ["a run between two others", /\s*:\s*(.*)x/],
  ["nested repetitions", /^(a+)+$/],
  ["neighbours that overlap", /^\w+\d+$/],
  ["alternatives that overlap", /^(a|aa)*b/],
  ["an opening that may never close", /<title[^>]*>/],
  ["a gap between two words", /from.*to/s],
])("R304 %s is not linear", async (_name, { source: pattern, flags }) => {
  expect(await judge({ pattern, flags })).toMatch(/in its input$/);
});

test.each([
  ["one run that is the whole match", /\s+/g],
  ["a run that can start at one place only", /(?<!\s)\s+$/],
  ["a run at the start of the text", /^\s*x/],
  ["an opening that stops at the next one", /<title[^<>]*>/],
  ["a gap with a bound", /from.{0,80}to/s],
])("R304 %s is linear", async (_name, { source: pattern, flags }) => {
  expect(await judge({ pattern, flags })).toBe("linear");
});

test("R304 patterns are found as literals, in RegExp, and known as unknown when they are put together", () => {
  const found = patternsOf(source('const a = /x/g; RegExp("y", "i"); new RegExp(String.raw`\\d`); new RegExp(a);'));
  expect(found.map(({ key }) => key)).toEqual(["/x/g", "/y/i", "/\\d/", undefined]);
  const [named] = patternsOf(source("const N = String.raw`\\d`; const P = new RegExp(`$" + "{N}+x`, 'i');"));
  expect(named?.key).toBe("/\\d+x/i");
});

test("R304 a pattern is reported with its place, and a reason on its line or above excuses it", async () => {
  const root = mkdtempSync(join(tmpdir(), "tau-regexps-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, "scripts/check"), { recursive: true });
  writeFileSync(join(root, "scripts/check/regexp-verdicts.json"), '{"/x+$/": "polynomial in its input"}');
  const problems = (text) => checkRegexps([source(text)], root);
  expect(await problems("\nconst a = /x+$/;")).toEqual([expect.stringContaining("a.ts:2: /x+$/ is polynomial")]);
  expect(await problems("new RegExp(text);")).toEqual([expect.stringContaining("put together at run time")]);
  expect(await problems("const a = /x+$/; // regexp: at most 9 characters")).toEqual([]);
  expect(await problems("// regexp: at most 9 characters.\n// More.\nconst a = new RegExp(text);")).toEqual([]);
  expect(await problems("// regexp:\nconst a = /x+$/;")).toHaveLength(1);
});
