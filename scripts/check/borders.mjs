import { walk } from "./source.mjs";

const VAGUE = /^(utils?|helpers?|common|misc|shared)(\.|$)/;
const ROOT = "packages/cli/src/main.ts";

/** Rules about names, indexes and the one place that reads the process's environment. */
export function checkBorders(sources) {
  return sources.flatMap((source) => [
    ...nameProblems(source),
    ...indexProblems(source),
    ...environmentProblems(source),
    ...catchProblems(source),
  ]);
}

function nameProblems({ path }) {
  const vague = path.split("/").find((part) => VAGUE.test(part));
  return vague ? [`${path}: "${vague}" names no subject; name the file after what it is about`] : [];
}

function indexProblems({ path, imports, lineOf }) {
  const ownIndex = path.replace(/^(packages\/\w+\/src)\/.*/, "$1/index.ts");
  return imports.flatMap((found) => {
    const where = `${path}:${lineOf(found.node)}`;
    if (found.star) return [`${where}: export * hides what is public; list the names by hand`];
    if (found.target === ownIndex && path !== ownIndex)
      return [`${where}: imports its own package's index; import the file that has it`];
    return [];
  });
}

function environmentProblems({ path, program, lineOf }) {
  if (path === ROOT) return [];
  const problems = [];
  walk(program, (node) => {
    const name = node.property?.name;
    if (node.type !== "MemberExpression" || node.object?.name !== "process" || !["env", "argv"].includes(name)) return;
    problems.push(`${path}:${lineOf(node)}: reads process.${name}; only ${ROOT} does, pass the value in`);
  });
  return problems;
}

function catchProblems({ path, program, lineOf }) {
  const problems = [];
  walk(program, (node) => {
    if (node.type !== "CatchClause" || node.body.body.length > 0) return;
    problems.push(`${path}:${lineOf(node)}: empty catch; handle the failure, or return a value that says it`);
  });
  return problems;
}
