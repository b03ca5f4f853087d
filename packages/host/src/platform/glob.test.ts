import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileGlob, splitGlob } from "./glob.ts";

describe("compileGlob", () => {
  it.each([
    ["*.ts", ["a.ts", "src/a.ts", ".ts", "src/.hidden.ts"], ["a.tsx", "a.ts/b"]],
    ["/*.ts", ["a.ts"], ["src/a.ts"]],
    ["src/*.ts", ["src/a.ts"], ["a.ts", "src/b/a.ts", "x/src/a.ts"]],
    ["./src/*.ts", ["src/a.ts"], ["a.ts"]],
    ["src/**/*.ts", ["src/a.ts", "src/b/c/a.ts"], ["a.ts", "src/a.js"]],
    ["**/test/**", ["test/a", "x/test/b/c"], ["tests/a"]],
    ["docs/", ["docs/a", "x/docs/b/c"], ["docsx/a"]],
    ["a?c", ["abc", "a😀c"], ["ac", "abbc"]],
    ["[a-c]1", ["a1", "c1"], ["d1", "-1"]],
    ["[!a-c]1", ["d1"], ["a1"]],
    ["[]x]", ["]", "x"], ["y"]],
    ["[z-a]", ["[z-a]"], ["b"]],
    ["a[b", ["a[b"], ["ab"]],
    ["{a,b{c,d}}.x", ["a.x", "bc.x", "bd.x"], ["b.x", "c.x"]],
    ["*.ts,*.js", ["a.ts", "b/c.js"], ["a.txt"]],
    ["!*.ts", ["a.js"], ["a.ts", "b/a.ts"]],
    ["\\*.ts", ["*.ts"], ["a.ts"]],
    ["{a", ["{a"], ["a"]],
  ])("%s", (glob, fitting, others) => {
    const matches = compileGlob(glob);
    expect(fitting.filter((path) => !matches(path))).toEqual([]);
    expect(others.filter(matches)).toEqual([]);
  });

  it("agrees with a regular expression on stars and marks", () => {
    const name = fc.array(fc.constantFrom("a", "b", "*", "?"), { maxLength: 8 });
    const value = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 8 });
    fc.assert(
      fc.property(name, value, (parts, text) => {
        const source = parts.map((part) => (part === "*" ? ".*" : part.replace("?", "."))).join("");
        expect(compileGlob(`/${parts.join("")}`)(text)).toBe(new RegExp(`^${source}$`).test(text));
      }),
    );
  });

  it("is not slowed down by many stars", () => {
    expect(compileGlob(`${"*a".repeat(500)}b`)("a".repeat(2000))).toBe(false);
    expect(compileGlob(`${"**/a/".repeat(500)}b`)("a/".repeat(2000))).toBe(false);
    expect(compileGlob("{a,b}".repeat(40))("x")).toBe(false);
  });
});

it.each([
  ["src/a/*.ts", { folder: "src/a", rest: "*.ts" }],
  ["*.ts", { folder: "", rest: "*.ts" }],
  ["src/a.ts", { folder: "src/a.ts", rest: "" }],
  ["/abs/x/**", { folder: "/abs/x", rest: "**" }],
  ["/*", { folder: "/", rest: "*" }],
])("splitGlob %s", (glob, expected) => {
  expect(splitGlob(glob)).toEqual(expected);
});
