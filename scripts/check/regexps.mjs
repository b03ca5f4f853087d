import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { walk } from "./source.mjs";

/**
 * The verdicts on patterns that were judged before, so that a check takes no time: `{ "/x+$/": "…" }`. A pattern that is
 * not in it is judged at each check; `npm run regexps` adds it.
 */
const VERDICTS = "scripts/check/regexp-verdicts.json";
const JUDGE_MS = 10_000;
const REMEDY =
  "let it start at one place only (`(?<!x)x+$`), or do it without a pattern; if its input is bounded, say so above it: `// regexp: <reason>`";

/**
 * Regular expressions whose time is not linear in their input, and those that are put together at run time. A comment
 * `// regexp: <reason>` on their line, or directly above, excuses a pattern that somebody has looked at.
 */
export async function checkRegexps(sources, root = process.cwd()) {
  const known = readVerdicts(root);
  const problems = [];
  for (const found of sources.flatMap(patternsOf)) {
    if (found.excused) continue;
    const where = `${found.path}:${found.line}`;
    if (found.key === undefined)
      problems.push(
        `${where}: a pattern put together at run time is not judged; say why it is linear: // regexp: <reason>`,
      );
    else {
      known[found.key] ??= await judge(found);
      if (known[found.key] !== "linear") problems.push(`${where}: ${found.key} is ${known[found.key]}; ${REMEDY}`);
    }
  }
  return problems;
}

/** Writes the verdict of every pattern in the sources into the file and drops what is gone. */
export async function writeVerdicts(sources, root = process.cwd()) {
  const known = readVerdicts(root);
  const verdicts = {};
  for (const found of sources.flatMap(patternsOf)) {
    if (found.excused || found.key === undefined || !isUnbounded(found.pattern)) continue;
    verdicts[found.key] ??= known[found.key] ?? (await judge(found));
  }
  const sorted = Object.fromEntries(Object.entries(verdicts).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(join(root, VERDICTS), `${JSON.stringify(sorted, null, 2)}\n`);
  return sorted;
}

const readVerdicts = (root) => JSON.parse(readFileSync(join(root, VERDICTS), "utf8"));

/** The regular expressions of a source file: `{ path, line, pattern, flags, key, excused }`, without a key if unknown. */
export function patternsOf(source) {
  const found = [];
  const lines = source.text.split("\n");
  const constants = constantsOf(source);
  walk(source.program, (node) => {
    const expression = regexpOf(node, constants);
    if (!expression) return;
    const line = source.lineOf(node);
    found.push({ path: source.path, line, excused: isExcused(lines, line), ...expression });
  });
  return found;
}

function regexpOf(node, constants) {
  if (node.type === "Literal" && node.regex) return withKey(node.regex.pattern, node.regex.flags);
  if (!["NewExpression", "CallExpression"].includes(node.type) || node.callee.name !== "RegExp") return undefined;
  const [pattern, flags] = node.arguments.map((argument) => constantText(argument, constants));
  if (pattern === undefined || (node.arguments.length > 1 && flags === undefined)) return {};
  return withKey(pattern, flags ?? "");
}

const withKey = (pattern, flags) => ({ pattern, flags, key: `/${pattern}/${flags}` });

/** The value of a string that is written out, also as a template, with `String.raw`, or by the name of a constant. */
function constantText(node, constants) {
  if (node?.type === "Literal" && typeof node.value === "string") return node.value;
  if (node?.type === "Identifier") return constants.get(node.name);
  const isRaw = node?.type === "TaggedTemplateExpression" && node.tag.property?.name === "raw";
  const template = isRaw ? node.quasi : node;
  if (template?.type !== "TemplateLiteral") return undefined;
  const inner = template.expressions.map((expression) => constantText(expression, constants));
  if (inner.includes(undefined)) return undefined;
  return template.quasis.map(({ value }, at) => (isRaw ? value.raw : value.cooked) + (inner[at] ?? "")).join("");
}

/** The texts of the constants at the top of a file, by name. */
function constantsOf({ program }) {
  const constants = new Map();
  for (const node of program.body) {
    if (node.type !== "VariableDeclaration" || node.kind !== "const") continue;
    for (const { id, init } of node.declarations) constants.set(id.name, constantText(init, constants));
  }
  return constants;
}

/** A mark on the line itself or in the comment directly above. */
function isExcused(lines, line) {
  const isMark = (text) => /(\/\/|^\s*\*|\/\*\*?) ?.*\bregexp: \S/.test(text ?? "");
  if (isMark(lines[line - 1])) return true;
  for (let above = line - 2; /^\s*(\/\/|\*|\/\*)/.test(lines[above] ?? ""); above--)
    if (isMark(lines[above])) return true;
  return false;
}

/** `linear`, or in words what it is instead. Worst cases are looked for by the library `recheck`. */
export async function judge({ pattern, flags }) {
  if (!isUnbounded(pattern)) return "linear";
  const { check } = await import("recheck");
  const result = await check(withMarkedStarts(withSmallCounts(pattern)), flags, { timeout: JUDGE_MS, randomSeed: 1 });
  if (result.status === "safe") return "linear";
  if (result.status === "vulnerable") return `${result.complexity.type} in its input`;
  return "not judged in time";
}

/** A pattern without `*`, `+` and `{n,}` can be tried at each place in constant time. */
const isUnbounded = (pattern) => /[*+]|\{\d+,\}/.test(pattern.replace(/\\./g, "").replace(/\[[^\]]*\]/g, ""));

/** `{0,80}` as `{0,2}`: a fixed count changes the constant and not the kind, and the judge is much faster. */
function withSmallCounts(pattern) {
  return pattern.replace(/(?<!\\)\{(\d+)(,?)(\d*)\}/g, (_all, least, comma, most) => {
    const small = (count) => (count === "" ? "" : Math.min(Number(count), 2));
    return `{${small(least)}${comma}${small(most)}}`;
  });
}

/**
 * `(?<!x)x+`, a run that starts at one place only, as a run behind a character that occurs nowhere else. The judge only
 * guesses about look-behind, and this says the same in words that it can prove.
 */
function withMarkedStarts(pattern) {
  return pattern.replace(/\(\?<!(\\.|\[[^\]]*\]|\w)\)(?=\(?(?:\?:)?\1[+*])/g, "\\uE000");
}
