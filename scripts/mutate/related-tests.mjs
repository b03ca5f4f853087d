import { dirname } from "node:path";

/**
 * The tests of the same package that reach a file by imports, the nearest first: by the length of the way, and at the
 * same length those in its own folder first.
 */
export function relatedTests(path, files) {
  const importers = new Map();
  for (const file of files)
    for (const { target } of file.imports) importers.set(target, [...(importers.get(target) ?? []), file.path]);
  const distance = new Map([[path, 0]]);
  for (const at of distance.keys()) {
    for (const importer of importers.get(at) ?? [])
      if (!distance.has(importer)) distance.set(importer, distance.get(at) + 1);
  }
  const packageOf = (file) => file.split("/").slice(0, 2).join("/");
  const folder = (file) => (dirname(file) === dirname(path) ? 0 : 1);
  return [...distance.keys()]
    .filter((file) => /\.test\.ts$/.test(file) && packageOf(file) === packageOf(path))
    .sort((a, b) => distance.get(a) - distance.get(b) || folder(a) - folder(b) || (a < b ? -1 : 1));
}
