// Bundles the command: packages/cli/src/main.ts -> packages/cli/dist/tau.js and chunks beside it. One file a lazily
// imported part, so that a command loads only what it needs; types are made by `tsc -b`.
import { chmodSync, cpSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("..", import.meta.url));
const cli = join(root, "packages/cli");
const manifest = JSON.parse(readFileSync(join(cli, "package.json"), "utf8"));
const external = [/^node:/, ...Object.keys(manifest.dependencies)];

rmSync(join(cli, "dist/chunks"), { recursive: true, force: true });
const bundle = await rolldown({
  input: { tau: join(cli, "src/main.ts") },
  platform: "node",
  external,
  // "module" first: the "main" of jsonc-parser is a UMD file that no bundler can follow.
  resolve: { conditionNames: ["tau-source", "node", "import", "default"], mainFields: ["module", "main"] },
  transform: { define: { "globalThis.TAU_VERSION": JSON.stringify(manifest.version) } },
});
await bundle.write({
  dir: join(cli, "dist"),
  format: "esm",
  entryFileNames: "[name].js",
  chunkFileNames: "chunks/[name]-[hash].js",
  minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
});
await bundle.close();
chmodSync(join(cli, "dist/tau.js"), 0o755);
rmSync(join(cli, "dist/sample"), { recursive: true, force: true });
cpSync(join(cli, "sample"), join(cli, "dist/sample"), { recursive: true });
