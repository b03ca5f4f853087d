import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { parseAst } from "rolldown/parseAst";

const SKIPPED_KEYS = new Set(["start", "end", "type", "loc", "range"]);

/** Calls `visit(node, ancestors)` for every node of an ESTree, parents first. */
export function walk(node, visit, ancestors = []) {
  if (Array.isArray(node)) {
    for (const item of node) walk(item, visit, ancestors);
    return;
  }
  if (!node || typeof node.type !== "string") return;
  visit(node, ancestors);
  const below = [...ancestors, node];
  for (const [key, value] of Object.entries(node)) {
    if (value && typeof value === "object" && !SKIPPED_KEYS.has(key)) walk(value, visit, below);
  }
}

/** The import and export-from specifiers of a program: `{ source, typeOnly, star, node }`. */
function importsOf(program) {
  const found = [];
  walk(program, (node) => {
    const source = node.source?.value;
    if (typeof source !== "string") return;
    if (node.type === "ImportDeclaration" || node.type === "ExportNamedDeclaration") {
      const specifiers = node.specifiers ?? [];
      const kind = node.importKind ?? node.exportKind;
      const typeOnly =
        kind === "type" ||
        (specifiers.length > 0 && specifiers.every((s) => (s.importKind ?? s.exportKind) === "type"));
      found.push({ source, typeOnly, star: false, node });
    } else if (node.type === "ExportAllDeclaration")
      // `export * as name` adds one name, whose file lists the rest by hand.
      found.push({ source, typeOnly: node.exportKind === "type", star: node.exported === null, node });
    else if (node.type === "ImportExpression") found.push({ source, typeOnly: false, star: false, lazy: true, node });
    else if (node.type === "TSImportType") found.push({ source, typeOnly: true, star: false, node });
  });
  return found;
}

const isSource = (path) => path.endsWith(".ts") && !/\.(test|d)\.ts$/.test(path) && !path.includes("__fixtures__");
const isCode = (path) => path.endsWith(".ts") && !path.endsWith(".d.ts");

/** Every source file of the packages, tests and fixtures left out: `{ path, text, lines, program, imports, lineOf }`. */
export function readSources(root) {
  return filesIn(root, "src")
    .filter(isSource)
    .sort()
    .map((path) => readSource(root, path));
}

/** The same for every file of code, tests and fixtures included. */
export function readAllCode(root) {
  return [...filesIn(root, "src"), ...filesIn(root, "test")].filter(isCode).map((path) => readSource(root, path));
}

function filesIn(root, folder) {
  return readdirSync(join(root, "packages"))
    .filter((name) => existsSync(join(root, "packages", name, folder)))
    .flatMap((name) =>
      readdirSync(join(root, "packages", name, folder), { recursive: true }).map((path) =>
        join("packages", name, folder, path),
      ),
    );
}

function readSource(root, path) {
  const text = readFileSync(join(root, path), "utf8");
  const program = parseAst(text, { lang: "ts" });
  const imports = importsOf(program).map((found) => ({ ...found, target: targetOf(path, found.source) }));
  const lineOf = (node) => text.slice(0, node.start).split("\n").length;
  return { path, text, lines: text.split("\n").length, program, imports, lineOf };
}

/** Where an import leads: a path of the repository, or the bare specifier. */
function targetOf(from, source) {
  if (source.startsWith(".")) return normalize(join(dirname(from), source));
  const own = /^@tau\/(\w+)(?:\/([\w-]+))?$/.exec(source);
  return own ? `packages/${own[1]}/src/${own[2] ?? "index"}.ts` : source;
}
