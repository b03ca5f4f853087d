import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAst } from "rolldown/parseAst";
import { describe, expect, it } from "vitest";

const folder = fileURLToPath(new URL(".", import.meta.url));
const sources = readdirSync(folder).filter((name) => name.endsWith(".ts") && !/\.(test|d)\.ts$/.test(name));

interface Statement {
  type: string;
  source?: { value: string } | null;
  importKind?: string;
  exportKind?: string;
  specifiers?: { importKind?: string; exportKind?: string }[];
}

/** Modules that a file needs when it runs. */
function neededBy(name: string): string[] {
  const { body } = parseAst(readFileSync(join(folder, name), "utf8"), { lang: "ts" });
  return (body as unknown as Statement[]).flatMap((statement) => {
    const { source, specifiers = [] } = statement;
    if (!source) return [];
    const kinds = [
      statement.importKind ?? statement.exportKind,
      ...specifiers.map((s) => s.importKind ?? s.exportKind),
    ];
    const typesOnly = kinds[0] === "type" || (specifiers.length > 0 && kinds.slice(1).every((kind) => kind === "type"));
    return typesOnly ? [] : [source.value];
  });
}

describe("the borders of the loop", () => {
  it("B1 the loop needs nothing at run time but its own files and the fold of the head", () => {
    expect(sources.length).toBeGreaterThan(10);
    for (const name of sources) {
      for (const needed of neededBy(name))
        expect(needed, `${name} imports ${needed}`).toMatch(/^(\.\/[\w-]+\.ts|@tau\/llm\/head)$/);
      expect(readFileSync(join(folder, name), "utf8"), name).not.toMatch(/\bimport\(|\brequire\(|\bprocess\./);
    }
  });

  it("B1 the loop is compiled without the types of any platform", () => {
    const config = JSON.parse(readFileSync(join(folder, "../tsconfig.json"), "utf8"));
    expect(config.compilerOptions.types).toEqual([]);
  });
});
