import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
// TypeScript 5.4, as a library: a second package of the compiler would take the name `tsc`.
import { getLibFiles, ts } from "@ts-morph/common";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const DOORS = [
  "llm/dist/index",
  "llm/dist/head",
  "llm/dist/testing",
  "agent/dist/index",
  "agent/dist/validate",
  "host/dist/index",
];
/** So many names a reader can take in. */
const MOST_NAMES = 70;

const door = (name: string) => join(root, "packages", `${name}.d.ts`);
const program = compile(DOORS.map(door), {
  strict: true,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ES2022,
  lib: ["lib.es2022.d.ts", "lib.dom.d.ts"],
  types: [],
  noEmit: true,
});
const checker = program.getTypeChecker();

function compile(files: string[], options: ts.CompilerOptions): ts.Program {
  const host = ts.createCompilerHost(options);
  const libraries = new Map(getLibFiles().map(({ fileName, text }) => [`/lib/${fileName}`, text]));
  const { fileExists, readFile } = host;
  host.getDefaultLibLocation = () => "/lib";
  host.getDefaultLibFileName = () => "/lib/lib.d.ts";
  host.fileExists = (path) => libraries.has(path) || fileExists(path);
  host.readFile = (path) => libraries.get(path) ?? readFile(path);
  host.getSourceFile = (path, language) => {
    const text = host.readFile(path);
    return text === undefined ? undefined : ts.createSourceFile(path, text, language);
  };
  return ts.createProgram(files, options, host);
}

function exportsOf(name: string): ts.Symbol[] {
  const source = program.getSourceFile(door(name));
  const module = source && checker.getSymbolAtLocation(source);
  return module ? checker.getExportsOfModule(module) : [];
}

const resolved = (symbol: ts.Symbol) =>
  symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;

/** The types that the declarations of a symbol name, as symbols. */
function namedTypes(symbol: ts.Symbol): ts.Symbol[] {
  const found: ts.Symbol[] = [];
  const visit = (node: ts.Node): void => {
    const name = ts.isTypeReferenceNode(node)
      ? node.typeName
      : ts.isExpressionWithTypeArguments(node)
        ? node.expression
        : ts.isTypeQueryNode(node)
          ? node.exprName
          : undefined;
    const target = name && checker.getSymbolAtLocation(name);
    if (target) found.push(resolved(target));
    if (ts.isImportTypeNode(node)) found.push(...[checker.getTypeAtLocation(node).symbol].filter(Boolean));
    ts.forEachChild(node, visit);
  };
  for (const declaration of symbol.declarations ?? []) visit(declaration);
  return found;
}

describe("the public door of @tau/host", () => {
  const names = exportsOf("host/dist/index");

  it(`has at most ${MOST_NAMES} names`, () => {
    expect(names.length).toBeGreaterThan(0);
    expect(names.length).toBeLessThanOrEqual(MOST_NAMES);
  });

  it("R285 every name has a comment that says what it is", () => {
    const bare = names.filter(
      (symbol) => symbol.name !== "types" && resolved(symbol).getDocumentationComment(checker).length === 0,
    );
    expect(bare.map(({ name }) => name)).toEqual([]);
  });
});

describe("the public doors", () => {
  /** The names of a door, and those in its namespace `types`. */
  const importable = (name: string) =>
    exportsOf(name).flatMap((symbol) => (symbol.name === "types" ? membersOf(resolved(symbol)) : [symbol]));
  const open = new Set(DOORS.flatMap(importable).map(resolved));

  it.each(DOORS.filter((name) => !name.startsWith("agent/")))(
    "R285 every type that a signature of %s names can be imported",
    (name) => {
      const names = importable(name);
      expect(names.length).toBeGreaterThan(0);
      const missing = names.flatMap((symbol) =>
        namedTypes(resolved(symbol))
          .filter((type) => isOurs(type) && !open.has(type))
          .map((type) => `${symbol.name} names ${type.name}`),
      );
      expect([...new Set(missing)].sort()).toEqual([]);
    },
  );
});

const membersOf = (module: ts.Symbol) => (module.exports ? checker.getExportsOfModule(module) : []);

/** Declared in these packages, on the top level of its file: a type parameter needs no export. */
function isOurs(symbol: ts.Symbol): boolean {
  return (symbol.declarations ?? []).some(
    (node) =>
      !ts.isTypeParameterDeclaration(node) &&
      ts.isSourceFile(node.parent) &&
      node.getSourceFile().fileName.startsWith(join(root, "packages")),
  );
}

describe("a strict program on TypeScript 5.4", () => {
  it.each([
    ["of Node alone", { lib: ["lib.es2022.d.ts"], types: ["node"] }],
    ["without the types of Node", { lib: ["lib.es2022.d.ts", "lib.dom.d.ts"], types: [] }],
  ])("R285 compiles %s, with the libraries checked", (_name, { lib, types }) => {
    const consumer = compile([join(root, "packages/host/test/consumer.mts"), ...DOORS.map(door)], {
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      target: ts.ScriptTarget.ES2022,
      lib,
      types,
      noEmit: true,
    });
    const problems = ts.getPreEmitDiagnostics(consumer).filter(({ file }) => !isForeign(file?.fileName ?? ""));
    expect(problems.map(shown)).toEqual([]);
  });
});

it("R285 a strict program compiles with the TypeScript of this repository too", async () => {
  const folder = mkdtempSync(join(root, "node_modules/.tau-types-"));
  try {
    const files = [join(root, "packages/host/test/consumer.mts"), ...DOORS.map(door)];
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      module: "nodenext",
      target: "es2022",
      lib: ["es2022", "dom"],
      types: [],
      noEmit: true,
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ files, compilerOptions }));
    const args = [join(root, "node_modules/typescript/bin/tsc"), "-p", folder];
    const said = await new Promise((resolve) => {
      execFile(process.execPath, args, (_error, stdout, stderr) => resolve(`${stdout}${stderr}`));
    });
    expect(said).toBe("");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** What @types/node says of newer TypeScript is not our business. */
const isForeign = (path: string) => /node_modules\/(?!@tau\/)/.test(path);

function shown({ file, start, messageText }: ts.Diagnostic): string {
  const text = ts.flattenDiagnosticMessageText(messageText, " ");
  if (!file) return text;
  const line = readFileSync(file.fileName, "utf8").slice(0, start).split("\n").length;
  return `${file.fileName.replace(root, "")}:${line} ${text}`;
}
