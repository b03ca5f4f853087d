import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, sep } from "node:path";

const LICENCE_FILE = /^(licen[cs]e|copying|notice)([.-].*)?$/i;

/**
 * Writes the licences of all packages whose code is in a bundle.
 * @param head first lines of the file
 * @param output chunks and assets as rolldown gives them
 * @throws Error for a package without a licence text: it must not be shipped before somebody has looked at it
 */
export function writeNotices(head, output, target) {
  const folders = new Set(output.flatMap(({ moduleIds = [] }) => moduleIds.map(packageFolder)));
  folders.delete(undefined);
  const notices = [...folders].map(noticeOf).sort((a, b) => (a.name < b.name ? -1 : 1));
  writeFileSync(target, [head, ...notices.map(({ text }) => text)].join(`\n${"-".repeat(78)}\n`));
}

/** The folder of the package that a module comes from; undefined for one of ours. */
function packageFolder(id) {
  // Helpers that the bundler adds are its own code.
  if (id.startsWith("\0")) return dirname(createRequire(import.meta.url).resolve("rolldown/package.json"));
  const mark = `${sep}node_modules${sep}`;
  const at = id.lastIndexOf(mark);
  if (at < 0) return undefined;
  const parts = id.slice(at + mark.length).split(sep);
  return join(id.slice(0, at), "node_modules", ...parts.slice(0, parts[0].startsWith("@") ? 2 : 1));
}

function noticeOf(folder) {
  const { name, version, license, homepage, repository } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8"),
  );
  const files = readdirSync(folder).filter((file) => LICENCE_FILE.test(file));
  if (files.length === 0) throw new Error(`${name} is in the bundle but has no licence file in ${folder}`);
  const texts = files.map((file) => readFileSync(join(folder, file), "utf8").trim());
  const place = homepage ?? repository?.url ?? repository ?? "";
  return { name, text: [`${name} ${version} (${license})`, place, "", ...texts, ""].join("\n") };
}
