import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { reply, toolCall, wireServer } from "@tau/llm/testing";
import { type BuildOptions, build } from "esbuild";
import { rolldown } from "rolldown";
import { afterAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const program = join(root, "packages/host/test/__fixtures__/bundled-program.mjs");
/** A picture of one pixel. */
const DOT = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
/** "いろはにほへと" and more in Shift_JIS, which no Unicode reader can show. */
const SHIFT_JIS = Buffer.from("82a282eb82cd82c982d982d682c682bf82e882ca82e982f080410a", "hex");

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function tempDir(): string {
  const folder = mkdtempSync(join(tmpdir(), "tau-bundles-"));
  folders.push(folder);
  return folder;
}

interface Call {
  isError: boolean;
  kinds: string[];
  text?: string;
}
interface Printed {
  status: string;
  text: string;
  errorMessage?: string;
  results: Record<string, Call>;
}

/** Runs a program on a folder with files, against a model on loopback; there is no rg on its PATH. */
async function run(args: string[], env: Record<string, string> = {}): Promise<Printed> {
  const cwd = tempDir();
  const home = tempDir();
  writeFileSync(join(cwd, "dot.png"), DOT);
  writeFileSync(join(cwd, "old.txt"), SHIFT_JIS);
  writeFileSync(join(cwd, "plain.txt"), "one\ntwo\n");
  const calls = [
    toolCall("read", { path: "dot.png" }, "image"),
    toolCall("read", { path: "old.txt" }, "legacy"),
    toolCall("edit", { path: "plain.txt", edits: [{ oldText: "two", newText: "2" }] }, "edit"),
    toolCall("grep", { pattern: "one" }, "grep"),
  ];
  const server = await wireServer({ steps: [reply(...calls), reply("Done.")] });
  const provider = { baseUrl: `${server.url}/v1`, api: "openai-completions", apiKey: "key", models: [{ id: "one" }] };
  const models = JSON.stringify({ providers: { loopback: provider } });
  writeFileSync(join(home, "models.json"), `// a comment, and a comma at the end\n${models.replace(/\}$/, ",}")}`);
  const own = { PATH: home, HOME: home, TMPDIR: home };
  const input = JSON.stringify({ cwd, env: { ...own, TAU_DIR: home } });
  const { stdout, stderr } = await started([...args, input], { ...own, ...env });
  await server.close();
  expect(stderr).toBe("");
  return JSON.parse(stdout);
}

function started(args: string[], env: Record<string, string>) {
  return new Promise<{ stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, args, { cwd: env.HOME, env }, (_error, stdout, stderr) => resolve({ stdout, stderr }));
  });
}

async function esbuildTo(file: string, options: BuildOptions): Promise<void> {
  const quiet = { logLevel: "error" as const, absWorkingDir: root };
  await build({ ...quiet, entryPoints: [program], bundle: true, platform: "node", outfile: file, ...options });
}

async function rolldownTo(file: string, format: "esm" | "cjs"): Promise<void> {
  const bundle = await rolldown({ input: program, platform: "node", cwd: root, logLevel: "silent" });
  await bundle.write({ file, format, codeSplitting: false });
  await bundle.close();
}

const BUNDLES: { name: string; file: string; make(file: string): Promise<void> }[] = [
  { name: "esbuild, ES module", file: "out.mjs", make: (file) => esbuildTo(file, { format: "esm" }) },
  {
    name: "esbuild, ES module, names kept, minified",
    file: "out.mjs",
    make: (file) => esbuildTo(file, { format: "esm", keepNames: true, minify: true }),
  },
  { name: "esbuild, CommonJS", file: "out.cjs", make: (file) => esbuildTo(file, { format: "cjs", keepNames: true }) },
  { name: "rolldown, ES module", file: "out.mjs", make: (file) => rolldownTo(file, "esm") },
  { name: "rolldown, CommonJS", file: "out.cjs", make: (file) => rolldownTo(file, "cjs") },
];

const works = (call: Call | undefined) => [call?.isError, call?.kinds];

function expectParts({ results, ...end }: Printed): void {
  expect(end).toMatchObject({ status: "done", text: "Done." });
  expect(results.legacy?.text).toContain("いろはにほへと");
  expect(works(results.edit)).toEqual([false, ["text"]]);
}

/** What is not JavaScript is found in the packages beside the program. */
function expectAll(printed: Printed): void {
  expectParts(printed);
  expect(works(printed.results.image)).toEqual([false, ["text", "image"]]);
  expect(printed.results.grep).toMatchObject({ isError: false, text: expect.stringContaining("plain.txt:1") });
}

describe.each(BUNDLES)("R281 a program bundled by $name", ({ file, make }) => {
  it("works, with what is not JavaScript in the packages beside it", async () => {
    const folder = tempDir();
    await make(join(folder, file));
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "dir");
    expectAll(await run([join(folder, file)]));
  });

  it("works alone, and names the parts that are not there with the remedy", async () => {
    const folder = tempDir();
    await make(join(folder, file));
    const printed = await run([join(folder, file)]);
    expectParts(printed);
    const { image, grep } = printed.results;
    expect(image?.text).toMatch(/@silvia-odwyer\/photon-node is not installed.*npm install/s);
    expect(image?.text).not.toContain("damaged");
    expect(grep?.text).toMatch(/Install rg.*@vscode\/ripgrep is not installed/s);
  });
});

describe("R281 a program that is not bundled", () => {
  it("runs under tsx, which changes functions on the way", async () => {
    const folder = tempDir();
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "dir");
    const file = join(folder, "program.mts");
    copyFileSync(program, file);
    writeFileSync(file, `// @ts-nocheck\n${readFileSync(file, "utf8")}`);
    expectAll(await run(["--import", import.meta.resolve("tsx"), file]));
  });

  it("runs while its coverage is measured", async () => {
    const folder = tempDir();
    mkdirSync(join(folder, "coverage"));
    expectAll(await run([program], { NODE_V8_COVERAGE: join(folder, "coverage") }));
  });
});
