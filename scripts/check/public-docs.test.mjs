import { parseAst } from "rolldown/parseAst";
import { expect, test } from "vitest";
import { checkPublicDocs, doorsOf } from "./public-docs.mjs";

const DOOR = "packages/host/src/index.ts";
const source = (path, text) => ({ path, text, program: parseAst(text, { lang: "ts" }) });
/** The problems of a file whose name `x` is public. */
const problems = (text) =>
  checkPublicDocs([source(DOOR, 'export { x } from "./x.ts";'), source("packages/host/src/x.ts", text)], [DOOR]);

test.each([
  ["above a function", "/** As law C5 says. */\nexport function x() {}", 1],
  ["of a member of an interface", "export interface x {\n  /** See R044. */\n  a: string;\n}", 2],
  ["of a public member of a class", "export class x {\n  /** Law S5. */\n  a() {}\n}", 2],
  ["inside a type", "export type x =\n  /** DESIGN, Rooms */\n  string;", 2],
])("an id %s fails with its place", (_name, text, line) => {
  expect(problems(text)).toEqual([expect.stringMatching(new RegExp(`x\\.ts:${line}: a public comment cites`))]);
});

test.each([
  ["of a name that no door has", "/** Law C5. */\nexport function y() {}\nexport const x = 1;"],
  ["in a body", "export function x() {\n  /** Law C5. */\n  const a = 1;\n  return a;\n}"],
  ["of a private member", "export class x {\n  /** Law C5. */\n  #a = 1;\n  /** Law C5. */\n  private b = 1;\n}"],
  ["in a line comment", "// Law C5.\nexport const x = 1;"],
])("an id %s is for readers of the code", (_name, text) => {
  expect(problems(text)).toEqual([]);
});

test("the doors are those of the packages", () => {
  expect(doorsOf()).toEqual(
    expect.arrayContaining([DOOR, "packages/llm/src/testing.ts", "packages/agent/src/index.ts"]),
  );
});
