import { walk } from "../check/source.mjs";

/** What a mutation does to a binary or logical operator. */
const OPERATORS = {
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "===": "!==",
  "!==": "===",
  "+": "-",
  "-": "+",
  "*": "/",
  "/": "*",
  "&&": "||",
  "||": "&&",
};

const TESTED = new Set(["IfStatement", "WhileStatement", "DoWhileStatement", "ConditionalExpression"]);

/** One row a kind of mutation: `of(node)` gives the changes `{ node, to }` that it makes to a node of the syntax tree. */
const KINDS = [
  {
    name: "operator",
    of: (node, text) => (isOperation(node) && !joinsTexts(node) ? [{ node, to: withOperator(node, text) }] : []),
  },
  { name: "fallback", of: (node, text) => (node.operator === "??" ? [{ node, to: sliceOf(node.left, text) }] : []) },
  {
    name: "condition",
    of: (node) => {
      if (!TESTED.has(node.type)) return [];
      // A loop that never ends says nothing about the tests.
      const values =
        node.type === "IfStatement" || node.type === "ConditionalExpression" ? ["true", "false"] : ["false"];
      return values.map((to) => ({ node: node.test, to }));
    },
  },
  {
    name: "negation",
    of: (node, text) =>
      node.type === "UnaryExpression" && node.operator === "!" ? [{ node, to: sliceOf(node.argument, text) }] : [],
  },
  {
    name: "boolean",
    of: (node) =>
      node.type === "Literal" && typeof node.value === "boolean" ? [{ node, to: String(!node.value) }] : [],
  },
  {
    name: "number",
    of: (node) =>
      node.type === "Literal" && typeof node.value === "number" ? [{ node, to: String(node.value + 1) }] : [],
  },
  {
    name: "statement",
    of: (node) => (node.type === "ExpressionStatement" && !isDirective(node) ? [{ node, to: ";" }] : []),
  },
  {
    name: "await",
    of: (node, text) => (node.type === "AwaitExpression" ? [{ node, to: sliceOf(node.argument, text) }] : []),
  },
];

/** Parts of a file in which a change is none for its behaviour, or one of wording only. */
const isSilent = (node) =>
  node.type.startsWith("TS") ||
  node.type === "ImportDeclaration" ||
  (node.type === "NewExpression" && /Error$/.test(node.callee.name ?? ""));

const isOperation = ({ type, operator }) =>
  (type === "BinaryExpression" || type === "LogicalExpression") && Object.hasOwn(OPERATORS, operator);
const isText = (node) =>
  node.type === "TemplateLiteral" || typeof node.value === "string" || (node.operator === "+" && joinsTexts(node));
const joinsTexts = ({ operator, left, right }) => operator === "+" && (isText(left) || isText(right));
const isDirective = (node) => typeof node.directive === "string";
const sliceOf = (node, text) => text.slice(node.start, node.end);

function withOperator({ operator, left, right, start, end }, text) {
  const at = text.indexOf(operator, left.end);
  if (at > right.start) return text.slice(start, end);
  return text.slice(start, at) + OPERATORS[operator] + text.slice(at + operator.length, end);
}

/**
 * Every mutation of a source file, in the order of the file: `{ path, kind, line, start, end, from, to }`. The parts
 * `start` to `end` of the text become `to`.
 */
export function mutantsOf({ path, text, program, lineOf }) {
  const mutants = [];
  walk(program, (node, ancestors) => {
    if (isSilent(node) || ancestors.some(isSilent)) return;
    for (const kind of KINDS) {
      for (const { node: part, to } of kind.of(node, text)) {
        const from = sliceOf(part, text);
        if (from === to) continue;
        mutants.push({ path, kind: kind.name, line: lineOf(part), start: part.start, end: part.end, from, to });
      }
    }
  });
  return mutants;
}

/** The text of the file with one mutation in it. */
export const mutated = (text, { start, end, to }) => text.slice(0, start) + to + text.slice(end);
