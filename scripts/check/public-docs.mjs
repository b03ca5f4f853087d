import { readFileSync } from "node:fs";
import { join, normalize } from "node:path";

const PACKAGES = ["llm", "agent", "host"];
/** What only readers of this repository can look up: laws, reports, and the pages of its design. */
const INTERNAL = /\b(?:R\d{3}|[BCDEFGLOPQRSTX]\d{1,2}|DESIGN|SPEC)\b/g;
const COMMENT = /\/\*\*[\s\S]*?\*\//g;

/** The doors of the packages, as their package.json names them. */
export function doorsOf(root = process.cwd()) {
  return PACKAGES.flatMap((name) => {
    const { exports } = JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8"));
    return Object.values(exports)
      .map((entry) => entry["tau-source"])
      .filter((path) => typeof path === "string")
      .map((path) => normalize(join("packages", name, path)));
  });
}

/** Doc comments of public names that cite what users of the packages cannot look up. */
export function checkPublicDocs(sources, doors = doorsOf()) {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  return publicDeclarations(byPath, doors).flatMap(({ source, node }) =>
    shownComments(source.text, node).flatMap(({ text, at }) =>
      [...text.matchAll(INTERNAL)].map(
        ({ 0: id, index }) =>
          `${source.path}:${lineAt(source.text, at + index)}: a public comment cites ${id}; say it in words`,
      ),
    ),
  );
}

function publicDeclarations(byPath, doors) {
  const found = new Map();
  for (const door of doors) {
    for (const node of byPath.get(door)?.program.body ?? []) {
      if (node.type !== "ExportNamedDeclaration" || node.source === null) continue;
      const names = new Set(node.specifiers.map(({ local }) => local.name));
      const target = byPath.get(normalize(join(door, "..", node.source.value)));
      for (const declared of target?.program.body ?? []) {
        if (!namesOf(declared).some((name) => names.has(name))) continue;
        found.set(`${target.path}:${declared.start}`, { source: target, node: declared });
      }
    }
  }
  return [...found.values()];
}

/** The names that an exported declaration has. */
function namesOf(node) {
  const declaration = node.type === "ExportNamedDeclaration" ? node.declaration : null;
  if (!declaration) return [];
  const names = (declaration.declarations ?? [declaration]).map(({ id }) => id?.name);
  return names.filter((name) => name !== undefined);
}

/** The doc comments of a declaration that stand in its declaration file: not those of bodies and private members. */
function shownComments(text, node) {
  const hidden = hiddenParts(node.declaration);
  const start = docStart(text, node.start);
  return [...text.slice(start, node.end).matchAll(COMMENT)]
    .map(({ 0: comment, index }) => ({ text: comment, at: start + index }))
    .filter(({ at }) => !hidden.some(([from, to]) => at >= from && at < to));
}

/** Where the comment directly above a place begins, else the place. */
function docStart(text, place) {
  const before = text.slice(0, place);
  return before.trimEnd().endsWith("*/") ? before.lastIndexOf("/**") : place;
}

function hiddenParts(declaration) {
  if (declaration.type === "FunctionDeclaration") return [rangeOf(declaration.body)];
  if (declaration.type === "VariableDeclaration") {
    return declaration.declarations
      .map(({ init }) => init)
      .filter(Boolean)
      .map(rangeOf);
  }
  if (declaration.type !== "ClassDeclaration") return [];
  let end = declaration.body.start;
  return declaration.body.body.flatMap((member) => {
    const whole = [end, member.end];
    end = member.end;
    const isPrivate = member.key?.type === "PrivateIdentifier" || member.accessibility === "private";
    if (isPrivate) return [whole];
    const inner = member.value?.body ?? member.value;
    return inner ? [rangeOf(inner)] : [];
  });
}

const rangeOf = ({ start, end }) => [start, end];
const lineAt = (text, at) => text.slice(0, at).split("\n").length;
