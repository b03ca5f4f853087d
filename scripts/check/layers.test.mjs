import { expect, test } from "vitest";
import { checkCycles } from "./cycles.mjs";
import { layerProblems } from "./layers.mjs";
import { readRooms } from "./rooms.mjs";

const DOORS = {
  llm: "packages/llm/src/index.ts",
  "llm/head": "packages/llm/src/head.ts",
  "llm/testing": "packages/llm/src/testing.ts",
  agent: "packages/agent/src/index.ts",
};

const table = (...rows) => ["# A", "## Rooms", "", "| room | what | may import |", "|---|---|---|", ...rows].join("\n");

/** A source file as the checks see it. `imports` are paths; those in `types` are type-only. */
const file = (path, imports = [], { types = [], lazy = [] } = {}) => ({
  path,
  lineOf: () => 1,
  imports: [
    ...imports.map((target) => ({ target, typeOnly: false, node: {} })),
    ...types.map((target) => ({ target, typeOnly: true, node: {} })),
    ...lazy.map((target) => ({ target, typeOnly: false, lazy: true, node: {} })),
  ],
});

function problemsOf(rows, sources) {
  const { rooms, problems } = readRooms(table(...rows), DOORS);
  return [...problems, ...layerProblems(sources, rooms, new Set(Object.values(DOORS)))];
}

const STORE = "packages/host/src/store/a.ts";
const PLATFORM = "packages/host/src/platform/b.ts";
const ROWS = [
  "| `packages/host` (`@tau/host`) | the product | llm, agent |",
  "| `host/src/store/` | the tree | platform, llm |",
  "| `host/src/platform/` | files | – |",
];

test("an import that the table allows passes, by room and by door", () => {
  expect(problemsOf(ROWS, [file(STORE, [PLATFORM, DOORS.llm, DOORS["llm/head"], "node:fs"]), file(PLATFORM)])).toEqual(
    [],
  );
});

test.each([
  ["another room", PLATFORM, [STORE]],
  ["a package that is not named", STORE, [DOORS.agent]],
  ["the inside of a package that is named", STORE, ["packages/llm/src/stream/sse.ts"]],
  ["the door for tests, which has to be named", STORE, [DOORS["llm/testing"]]],
])("an import of %s fails and names the room", (_name, path, imports) => {
  const sources = [STORE, PLATFORM].map((each) => file(each, each === path ? imports : []));
  const [problem, ...rest] = problemsOf(ROWS, sources);
  expect(problem).toContain(`must not import ${imports[0]}`);
  expect(rest).toEqual([]);
});

test("`types of` allows types and nothing that runs", () => {
  const rows = ["| `packages/agent` | the loop | types of llm |"];
  const path = "packages/agent/src/loop.ts";
  expect(problemsOf(rows, [file(path, [], { types: [DOORS.llm] })])).toEqual([]);
  expect(problemsOf(rows, [file(path, [DOORS.llm])])).toHaveLength(1);
});

test("a table that lies is a problem: an unknown word, a room without files, a file in no room", () => {
  const problems = problemsOf(
    [...ROWS, "| `host/src/view/` | views | all |"],
    [file(STORE), file(PLATFORM), file("packages/host/src/stray.ts")],
  );
  expect(problems).toHaveLength(3);
  expect(problems[0]).toContain('may import "all"');
  expect(problems[1]).toContain("room host/src/view has no files");
  expect(problems[2]).toContain("stray.ts: is in no room");
});

test("a circle of imports fails, of values, of types and through a lazy import", () => {
  const circle = (kind) =>
    checkCycles([file("a.ts", [], { [kind]: ["b.ts"] }), file("b.ts", ["c.ts"]), file("c.ts", ["a.ts"])], []);
  expect(circle("types")).toEqual([expect.stringContaining("a.ts, b.ts, c.ts")]);
  expect(circle("lazy")).toHaveLength(1);
  expect(checkCycles([file("a.ts", ["b.ts"]), file("b.ts", ["a.ts"])], [])).toHaveLength(1);
  expect(checkCycles([file("a.ts", ["b.ts", "c.ts"]), file("b.ts", ["c.ts"]), file("c.ts")], [])).toEqual([]);
});

test("a known circle of types may stay and shrink, but not grow", () => {
  const pair = [file("r/a.ts", [], { types: ["r/b.ts"] }), file("r/b.ts", ["r/a.ts"])];
  expect(checkCycles(pair, [{ room: "r/", files: 2 }])).toEqual([]);
  expect(checkCycles(pair, [{ room: "r/", files: 3 }])).toEqual([expect.stringContaining("write 2")]);
  expect(checkCycles(pair, [{ room: "r/", files: 1 }])).toHaveLength(1);
  expect(
    checkCycles([file("r/a.ts", ["r/b.ts"]), file("r/b.ts", ["r/a.ts"])], [{ room: "r/", files: 2 }]),
  ).toContainEqual(expect.stringContaining("in a circle"));
});
