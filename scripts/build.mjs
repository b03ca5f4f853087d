// Bundles the command: packages/cli/src/main.ts -> packages/cli/dist/tau.js and chunks beside it. One file a lazily
// imported part, so that a command loads only what it needs; types are made by `tsc -b`.
import { chmodSync, copyFileSync, cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { bundleLibraries } from "./bundle-libraries.mjs";
import { makeCodeCache } from "./code-cache.mjs";
import { writeNotices } from "./notices.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const cli = join(root, "packages/cli");
const manifest = JSON.parse(readFileSync(join(cli, "package.json"), "utf8"));

// What a plain `tau -p` loads comes in one file: each more costs about a millisecond of start-up.
const STARTED_WITH = ["packages/cli/src/program.ts", "packages/llm/src/providers/openai-completions/index.ts"];

const NOTICES_HEAD = `The command tau holds code of these packages, each under its own licence.
Facts about models (ids, prices, limits) come from the data of @earendil-works/pi-ai (MIT).
`;

const input = {
  input: { tau: join(cli, "src/main.ts") },
  platform: "node",
  external: [/^node:/, ...Object.keys(manifest.dependencies)],
  // "module" first: the "main" of jsonc-parser is a UMD file that no bundler can follow.
  resolve: { conditionNames: ["tau-source", "node", "import", "default"], mainFields: ["module", "main"] },
  // No module of ours or of the libraries is imported for its side effects, so what is not used is left out whole.
  treeshake: { moduleSideEffects: false },
  transform: { define: { "globalThis.TAU_VERSION": JSON.stringify(manifest.version) } },
};

await bundleLibraries(join(root, "packages/host"));
const started = await modulesStartedWith();
rmSync(join(cli, "dist/chunks"), { recursive: true, force: true });
const bundle = await rolldown(input);
const { output } = await bundle.write({
  dir: join(cli, "dist"),
  // The sources are ES modules; the command is CommonJS, whose loader brings it to the first request a sixth sooner.
  format: "cjs",
  entryFileNames: "[name].js",
  chunkFileNames: "chunks/[name]-[hash].js",
  codeSplitting: {
    groups: [{ name: "start", test: (id) => started.has(id) }],
  },
  minify: {
    compress: true,
    mangle: { toplevel: false, keepNames: { function: true, class: true } },
    codegen: { removeWhitespace: true },
  },
});
await bundle.close();
writeNotices(NOTICES_HEAD, output, join(cli, "dist/THIRD-PARTY-NOTICES.txt"));
writeFileSync(join(cli, "dist/package.json"), '{ "type": "commonjs" }\n');
chmodSync(join(cli, "dist/tau.js"), 0o755);
rmSync(join(cli, "dist/sample"), { recursive: true, force: true });
cpSync(join(cli, "sample"), join(cli, "dist/sample"), { recursive: true });
await loadStartFromCache(output.find(({ name }) => name === "start").fileName);

/** Lets the entry load its large chunk by load-chunk.cjs. */
async function loadStartFromCache(name) {
  const chunk = join(cli, "dist", name);
  // Code from a cache cannot `import()`: Node has no loader for it. What it imports so are parts of Node, and chunks that
  // the bundler has made into `require` already.
  const code = readFileSync(chunk, "utf8").replace(
    /\bimport\([`"'](node:[\w/]+)[`"']\)/g,
    'Promise.resolve(require("$1"))',
  );
  if (/\bimport\(/.test(code))
    throw new Error(`${name} has an import() that is not a chunk; import it in a chunk of its own`);
  writeFileSync(chunk, code);
  const entry = join(cli, "dist/tau.js");
  const text = readFileSync(entry, "utf8");
  const call = `require("./${name}")`;
  if (!text.includes(call)) throw new Error(`dist/tau.js does not load ${name} by ${call}`);
  writeFileSync(entry, text.replace(call, `require("./load-chunk.js")(require.resolve("./${name}"))`));
  copyFileSync(join(root, "scripts/load-chunk.cjs"), join(cli, "dist/load-chunk.js"));
  await makeCodeCache(entry, chunk);
}

/** The modules that the entries of STARTED_WITH import without `import()`, themselves included. */
async function modulesStartedWith() {
  const bundle = await rolldown(input);
  const { output } = await bundle.generate({ format: "esm" });
  await bundle.close();
  const chunks = new Map(output.filter(({ type }) => type === "chunk").map((chunk) => [chunk.fileName, chunk]));
  const isStart = ({ moduleIds }) => STARTED_WITH.some((path) => moduleIds.includes(join(root, path)));
  const reached = new Set([...chunks.values()].filter(isStart));
  for (const chunk of reached) {
    for (const name of chunk.imports) if (chunks.has(name)) reached.add(chunks.get(name));
  }
  return new Set([...reached].flatMap(({ moduleIds }) => moduleIds));
}
