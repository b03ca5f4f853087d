import { walk } from "./source.mjs";

const FILE_LINES = 400;
const FUNCTION_LINES = 60;
const NESTING = 3;
const AGENT_LINES = 2000;
const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);
const BLOCKS = new Set([
  "IfStatement",
  "ForStatement",
  "ForOfStatement",
  "ForInStatement",
  "WhileStatement",
  "DoWhileStatement",
  "SwitchStatement",
  "TryStatement",
]);

/** Files, functions and nesting over the caps of the house style. */
export function checkCaps(sources) {
  const problems = [];
  for (const source of sources) {
    if (source.path.includes(".generated.")) continue;
    if (source.lines > FILE_LINES)
      problems.push(
        `${source.path}: ${source.lines} lines, the cap is ${FILE_LINES}; find the second subject in it and give it a file`,
      );
    walk(source.program, (node, ancestors) => {
      if (FUNCTIONS.has(node.type)) problems.push(...functionProblems(source, node));
      if (BLOCKS.has(node.type)) problems.push(...nestingProblems(source, node, ancestors));
    });
  }
  const agent = sources
    .filter(({ path }) => path.startsWith("packages/agent/"))
    .reduce((sum, { text }) => sum + codeLines(text), 0);
  if (agent > AGENT_LINES)
    problems.push(
      `packages/agent: ${agent} lines of code, the cap is ${AGENT_LINES}; what is not loop belongs to the host`,
    );
  return problems;
}

/** Lines that are neither empty nor comment: a cap must not be met by leaving out the reasons. */
const codeLines = (text) => text.split("\n").filter((line) => !/^\s*(\/\/|\/?\*|$)/.test(line)).length;

function functionProblems({ path, text, lineOf }, node) {
  const lines = text.slice(node.start, node.end).split("\n").length;
  if (lines <= FUNCTION_LINES) return [];
  return [
    `${path}:${lineOf(node)}: function of ${lines} lines, the cap is ${FUNCTION_LINES}; name its parts and call them`,
  ];
}

function nestingProblems({ path, lineOf }, node, ancestors) {
  let depth = 1;
  for (let i = ancestors.length - 1; i >= 0 && !FUNCTIONS.has(ancestors[i].type); i--) {
    const child = ancestors[i + 1] ?? node;
    const isElseIf = ancestors[i].type === "IfStatement" && ancestors[i].alternate === child;
    if (BLOCKS.has(ancestors[i].type) && !isElseIf) depth++;
  }
  if (depth <= NESTING) return [];
  return [`${path}:${lineOf(node)}: nested ${depth} deep, the cap is ${NESTING}; return early or name the inner part`];
}
