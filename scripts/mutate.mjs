// Measures how much the tests notice: breaks one thing at a time in a copy of the tree and runs the related tests.
// `npm run mutate -- --only packages/agent --sample 50 --seed 1`. docs/testing.md has the options and the last score.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { readAllCode } from "./check/source.mjs";
import { mutantsOf, mutated } from "./mutate/mutants.mjs";
import { relatedTests } from "./mutate/related-tests.mjs";
import { keyOf, Results, scoreTable } from "./mutate/results.mjs";
import { Workshop } from "./mutate/workshop.mjs";

const ROOMS = [
  "packages/agent/src/",
  "packages/llm/src/stream/",
  "packages/llm/src/errors/",
  "packages/host/src/session/",
  "packages/host/src/store/",
];
/** Tests beyond the nearest ones seldom notice what those missed, and each costs a process. */
const NEAREST = 4;
const { values: options } = parseArgs({
  options: {
    only: { type: "string" },
    sample: { type: "string" },
    seed: { type: "string", default: "1" },
    tests: { type: "string", default: "16" },
    results: { type: "string", default: ".mutate/results.jsonl" },
    list: { type: "boolean", default: false },
  },
});

const files = readAllCode(process.cwd());
const textOf = new Map(files.map(({ path, text }) => [path, text]));
const roomOf = (path) => ROOMS.find((room) => path.startsWith(room)) ?? path.split("/").slice(0, 4).join("/");
const isChosen = ({ path }) =>
  !/\.test\.ts$|__fixtures__|\.generated\./.test(path) &&
  (options.only ? path.startsWith(options.only) : ROOMS.some((room) => path.startsWith(room)));
const excused = JSON.parse(readFileSync(new URL("./mutate/equivalent.json", import.meta.url), "utf8"));
const isExcused = ({ path, from, to }) =>
  excused.some((row) => row.path === path && row.from === from && row.to === to);

const mutants = files
  .filter(isChosen)
  .flatMap(mutantsOf)
  .filter((mutant) => !isExcused(mutant));
const chosen = options.sample ? sample(mutants, Number(options.sample), Number(options.seed)) : mutants;
console.log(`${mutants.length} mutants, ${chosen.length} to try`);

const results = new Results(options.results);
const workshop = new Workshop();
process.on("exit", () => workshop.remove());
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));

const baselines = new Map();
const rows = [];
const begun = Date.now();
for (const [index, mutant] of chosen.entries()) {
  const outcome = await outcomeOf(mutant);
  if (outcome === "untested") continue;
  rows.push({ room: roomOf(mutant.path), outcome });
  if (outcome === "survived" || options.list) {
    const change = `${oneLine(mutant.from)} → ${oneLine(mutant.to)}`;
    console.log(`${index + 1}/${chosen.length} ${outcome} ${mutant.path}:${mutant.line} (${mutant.kind}) ${change}`);
  }
}
console.log(`\n${scoreTable(rows)}\n\n${rows.length} mutants in ${Math.round((Date.now() - begun) / 1000)} s`);

/** `killed` when a test fails or hangs, `survived` when all of them pass, `untested` when no test passes unbroken. */
async function outcomeOf(mutant) {
  const tests = relatedTests(mutant.path, files).slice(0, Number(options.tests));
  const texts = [textOf.get(mutant.path), ...tests.map((test) => textOf.get(test))];
  const key = keyOf(mutant, texts);
  const known = results.get(key);
  if (known) return known;
  const outcome = await tryOut(mutant, tests);
  results.add(key, outcome, { path: mutant.path, line: mutant.line, from: mutant.from, to: mutant.to });
  return outcome;
}

async function tryOut(mutant, tests) {
  const groups = [tests.slice(0, NEAREST), tests.slice(NEAREST)].filter((group) => group.length > 0);
  const limits = [];
  for (const group of groups) limits.push(await baselineOf(group));
  if (limits.every((limit) => limit === undefined)) return "untested";
  const text = textOf.get(mutant.path);
  workshop.write(mutant.path, mutated(text, mutant));
  try {
    for (const [at, group] of groups.entries()) {
      if (limits[at] !== undefined && (await workshop.run(group, limits[at])) !== "passed") return "killed";
    }
    return "survived";
  } finally {
    workshop.write(mutant.path, text);
  }
}

/** How long tests may take with a mutant, in ms: several times what they take without. Undefined if they fail anyway. */
async function baselineOf(tests) {
  const key = tests.join(" ");
  if (!baselines.has(key)) {
    const start = Date.now();
    const outcome = await workshop.run(tests, 600_000);
    if (outcome !== "passed") console.log(`left out, since they fail without a mutant: ${key}`);
    baselines.set(key, outcome === "passed" ? 4 * (Date.now() - start) + 10_000 : undefined);
  }
  return baselines.get(key);
}

/** The same mutants for the same seed: those with the smallest hash of their place and the seed. */
function sample(all, count, seed) {
  return all
    .map((mutant) => ({ mutant, rank: keyOf(mutant, [mutant.path, String(seed)]) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
    .slice(0, count)
    .map(({ mutant }) => mutant);
}

function oneLine(text) {
  const line = text.replace(/\s+/g, " ");
  return line.length > 80 ? `${line.slice(0, 80)}…` : line;
}
