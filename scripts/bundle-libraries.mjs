// Makes ES modules of the libraries that @tau/host imports and that are CommonJS: packages/host/dist/libraries/. A bundler
// of somebody else that makes an ES module of a program turns their `require` of a part of Node into a throw, and cannot
// follow the UMD file of jsonc-parser at all. They are imported under the names of "imports" in the package.json.
import { readFileSync, rmSync } from "node:fs";
import { builtinModules, createRequire } from "node:module";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { esmExternalRequirePlugin } from "rolldown/plugins";
import { writeNotices } from "./notices.mjs";

const NOTICES_HEAD = "The files of this folder hold code of these packages, each under its own licence.\n";

/** Entries that export all names of a library: of a CommonJS file a bundler exports only the default. */
const namedEntries = {
  name: "named-entries",
  resolveId: (id) => (id.startsWith("entry:") ? `\0${id}` : undefined),
  load(id) {
    const [, library] = id.split("\0entry:");
    if (library === undefined) return undefined;
    const names = Object.keys(createRequire(import.meta.url)(library)).filter((name) => !/^(default|_.*)$/.test(name));
    return `import * as library from "${library}";\nexport const { ${names.join(", ")} } = library;\n`;
  },
};

/** @param host folder of @tau/host */
export async function bundleLibraries(host) {
  const { imports } = JSON.parse(readFileSync(join(host, "package.json"), "utf8"));
  const names = Object.values(imports).map((conditions) => conditions["tau-source"]);
  const dir = join(host, "dist/libraries");
  rmSync(dir, { recursive: true, force: true });
  const bundle = await rolldown({
    input: Object.fromEntries(names.map((name) => [name, `entry:${name}`])),
    cwd: host,
    platform: "node",
    // "module" first, for jsonc-parser.
    resolve: { mainFields: ["module", "main"] },
    plugins: [
      namedEntries,
      esmExternalRequirePlugin({ external: builtinModules.flatMap((name) => [name, `node:${name}`]) }),
    ],
  });
  const { output } = await bundle.write({
    dir,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "[name].js",
  });
  await bundle.close();
  writeNotices(NOTICES_HEAD, output, join(dir, "THIRD-PARTY-NOTICES.txt"));
}
