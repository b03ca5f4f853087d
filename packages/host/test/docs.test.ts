import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { SETTING_ROWS } from "../src/settings/settings-table.ts";

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
  paths["@tau/llm/testing"] = [join(root, "packages/llm/src/testing.ts")];
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

it("every TypeScript snippet of the pages for programs compiles", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tau-docs-"));
  try {
    for (const page of ["sdk.md", "rpc.md", "tools.md", "own-providers-and-tools.md"]) {
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

const PAGES = [
  ...["README.md", "ARCHITECTURE.md", "AGENTS.md", "CHANGELOG.md"],
  ...readdirSync(join(root, "docs")).map((name) => `docs/${name}`),
  ...readdirSync(join(root, "docs/decisions")).map((name) => `docs/decisions/${name}`),
].filter((path) => path.endsWith(".md"));

/** The names of a page's headings as links give them. */
function anchorsOf(text: string): string[] {
  const headings = text.replace(/^```.*?^```$/gms, "").matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

it.each(PAGES)("the links of %s lead somewhere", (page) => {
  const text = readFileSync(join(root, page), "utf8").replace(/^```.*?^```$/gms, "");
  const broken = [...text.matchAll(/\]\(([^()\s]+)\)/g)].flatMap(([, target = ""]) => {
    if (/^(https?|mailto):/.test(target)) return [];
    const [path = "", anchor] = target.split("#");
    const file = path === "" ? join(root, page) : join(root, dirname(page), path);
    if (!existsSync(file)) return [target];
    return anchor === undefined || anchorsOf(readFileSync(file, "utf8")).includes(anchor) ? [] : [target];
  });
  expect(broken).toEqual([]);
});

it("docs/README.md lists every page", () => {
  const index = readFileSync(join(root, "docs/README.md"), "utf8");
  const pages = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md") && name !== "README.md");
  expect(pages.filter((name) => !index.includes(`](${name})`))).toEqual([]);
});

it("docs/settings.md has a line for each setting", () => {
  const page = readFileSync(join(root, "docs/settings.md"), "utf8");
  let group = "";
  // `.maxRetries` stands for the group of the name before it.
  const named = [...page.matchAll(/`(\.?[\w.]+)`/g)].map(([, name = ""]) => {
    if (name.startsWith(".")) return `${group}${name}`;
    group = name.replace(/\.[^.]*$/, "");
    return name;
  });
  expect(SETTING_ROWS.map(({ key }) => key).filter((key) => !named.includes(key))).toEqual([]);
});
