import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseAst } from "rolldown/parseAst";
import { expect, onTestFinished, test } from "vitest";
import { mutantsOf, mutated } from "./mutants.mjs";
import { relatedTests } from "./related-tests.mjs";
import { keyOf, Results, scoreTable } from "./results.mjs";

function changesTo(text) {
  const program = parseAst(text, { lang: "ts" });
  const mutants = mutantsOf({ path: "a.ts", text, program, lineOf: () => 1 });
  return mutants.map((mutant) => mutated(text, mutant));
}

test.each([
  ["a comparison", "x = a < b;", "x = a <= b;"],
  ["an and", "x = a && b;", "x = a || b;"],
  ["a sum", "x = a + 1;", "x = a - 1;"],
  ["a fallback", "x = a ?? b;", "x = a;"],
  ["a condition, both ways", "if (a()) b();", "if (true) b();", "if (false) b();"],
  ["a negation", "x = !a;", "x = a;"],
  ["a boolean", "x = true;", "x = false;"],
  ["a number", "x = 3;", "x = 4;"],
  ["a statement", "a(); b();", "; b();", "a(); ;"],
  ["an await", "x = await a();", "x = a();"],
  ["the operator, not the same sign in an operand", 'x = a["<"] < b;', 'x = a["<"] <= b;'],
])("R337 the tool changes %s", (_name, text, ...changed) => {
  expect(changesTo(text)).toEqual(expect.arrayContaining(changed));
});

test.each([
  ["a loop is not made endless", "while (a) b();", "while (true) b();"],
  ["texts are not subtracted", 'x = "a" + b;', 'x = "a" - b;'],
  ["types stay", "let x: 3;", "let x: 4;"],
  ["words of errors stay", "throw new Error(a + b);", "throw new Error(a - b);"],
])("R337 %s", (_name, text, changed) => {
  expect(changesTo(text)).not.toContain(changed);
});

test("R337 the tests of a file are those of its package that reach it, the nearest first", () => {
  const file = (path, ...targets) => ({ path, imports: targets.map((target) => ({ target })) });
  const files = [
    file("packages/p/src/a.ts"),
    file("packages/p/src/b.ts", "packages/p/src/a.ts"),
    file("packages/p/src/b.test.ts", "packages/p/src/b.ts"),
    file("packages/p/src/a.test.ts", "packages/p/src/a.ts"),
    file("packages/p/src/c.test.ts"),
    file("packages/q/src/d.test.ts", "packages/p/src/a.ts"),
  ];
  expect(relatedTests("packages/p/src/a.ts", files)).toEqual(["packages/p/src/a.test.ts", "packages/p/src/b.test.ts"]);
});

test("R337 a run that was stopped continues with what is known, until a file or a test changes", () => {
  const folder = mkdtempSync(join(tmpdir(), "tau-mutate-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "new/results.jsonl");
  const mutant = { start: 1, end: 2, to: "x" };
  new Results(path).add(keyOf(mutant, ["code", "test"]), "killed", mutant);
  expect(existsSync(path)).toBe(true);
  expect(new Results(path).get(keyOf(mutant, ["code", "test"]))).toBe("killed");
  expect(new Results(path).get(keyOf(mutant, ["code", "better test"]))).toBeUndefined();
});

test("R337 the score is a row a room and one for all", () => {
  const rows = [
    { room: "b", outcome: "killed" },
    { room: "a", outcome: "killed" },
    { room: "a", outcome: "survived" },
  ];
  expect(scoreTable(rows).split("\n").slice(2)).toEqual([
    "| a | 2 | 1 | 50 % |",
    "| b | 1 | 1 | 100 % |",
    "| all | 3 | 2 | 67 % |",
  ]);
});
