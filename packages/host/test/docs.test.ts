import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** The TypeScript of a page, each block with the line it begins at. */
function snippetsOf(page: string): { name: string; code: string }[] {
  const text = readFileSync(join(root, "docs", page), "utf8");
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(({ index, 1: code = "" }) => ({
    name: `${page.replace(".", "-")}-line-${text.slice(0, index).split("\n").length}`,
    code,
  }));
}

/** As the page says: `session` is the one that its first snippet makes. */
function wholeModule(code: string, first: string): string {
  const isMade = code === first || !/\bsession\./.test(code);
  return `${isMade ? "" : first}${code}\nexport {};\n`;
}

function compile(folder: string): Promise<string> {
  const paths = Object.fromEntries(
    ["llm", "agent", "host"].map((name) => [`@tau/${name}`, [join(root, "packages", name, "src/index.ts")]]),
  );
  const config = {
    extends: join(root, "tsconfig.tests.json"),
    compilerOptions: { paths, typeRoots: [join(root, "node_modules/@types")] },
    include: ["*.ts"],
  };
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  const args = [join(root, "node_modules/typescript/bin/tsc"), "-p", folder];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: folder }, (error, stdout, stderr) =>
      resolve(error ? `${stdout}${stderr}` || error.message : ""),
    );
  });
}

it("every TypeScript snippet of docs/sdk.md, docs/rpc.md and docs/tools.md compiles", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tau-docs-"));
  try {
    for (const page of ["sdk.md", "rpc.md", "tools.md"]) {
      const snippets = snippetsOf(page);
      expect(snippets.length).toBeGreaterThan(0);
      const first = snippets[0]?.code ?? "";
      for (const { name, code } of snippets) writeFileSync(join(folder, `${name}.ts`), wholeModule(code, first));
    }
    expect(await compile(folder)).toBe("");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 60_000);
