import { expect, test } from "vitest";
import { citationProblems } from "./citations.mjs";

// Ids that no page has; put together here, since this file is checked as well.
const LAW = `C${99}`;
const REPORT = `R${999}`;
const known = new Set(["C5", "R044"]);
const problems = (path, text) => citationProblems([{ path, text }], known);

test("an id on one of the pages may be cited anywhere", () => {
  expect(problems("a.test.ts", 'it("C5 R044 every call", () => {}); // as in C5\n')).toEqual([]);
  expect(problems("docs/a.md", "Law C5 and report R044.")).toEqual([]);
});

test.each([
  ["a line comment", "a.ts", `const x = 1; // law ${LAW}`],
  ["a comment block", "a.ts", `/** As in ${REPORT}. */`],
  ["a line of a comment block", "a.ts", ` * As in ${REPORT}.`],
  ["the title of a test", "a.test.ts", `it("R044 ${LAW} every call", () => {});`],
  ["a page", "docs/a.md", `By law ${LAW}.`],
])("an id in %s that is on no page fails with its place", (_name, path, text) => {
  expect(problems(path, `\n${text}`)).toEqual([expect.stringMatching(/:2: cites (C99|R999), .*add its row/)]);
});

test("letters with figures in code and data are not ids", () => {
  expect(problems("a.ts", 'const keys = ["F11", "F12"]; const url = "http://x/C77";')).toEqual([]);
});
