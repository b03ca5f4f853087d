import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { codeOf, FileProblem } from "./file-problem.ts";
import { nearNames } from "./near-names.ts";

/** Bounds of the search for files of the same name, so that a hint never costs more than a moment. */
const MAX_FOLDERS = 300;
const MAX_DEPTH = 5;
const MAX_FOUND = 5;
const SKIPPED = new Set(["node_modules", ".git", "dist", "target", ".venv"]);

/**
 * The error for a file that is not there: names in its folder that are near, files of the same name further down. It
 * only ever tells; the tools never open another file than the one that was named (R067).
 */
export async function missingFile(shown: string, path: string, cwd: string): Promise<FileProblem> {
  const folder = await deepestFolder(dirname(path));
  const entries = await entriesOf(folder);
  const missing = basename(relative(folder, path).split(/[\\/]/)[0] ?? path);
  const hints = [`${shown} does not exist.`];
  if (folder !== dirname(path)) hints.push(`The folder ${display(folder, cwd)} has no "${missing}".`);
  const near = nearNames(
    missing,
    entries.map(({ name }) => name),
  );
  if (near.length > 0) hints.push(`Near names in ${display(folder, cwd)}: ${near.join(", ")}.`);
  const same = await sameName(basename(path), folder);
  if (same.length > 0) hints.push(`Files of that name: ${same.map((found) => display(found, cwd)).join(", ")}.`);
  return new FileProblem("ENOENT", hints.join(" "));
}

async function deepestFolder(folder: string): Promise<string> {
  try {
    await readdir(folder);
    return folder;
  } catch {
    // Whatever is wrong with it, the hint comes from the folder above.
    return dirname(folder) === folder ? folder : deepestFolder(dirname(folder));
  }
}

async function sameName(name: string, root: string): Promise<string[]> {
  const found: string[] = [];
  let level = [root];
  let visited = 0;
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth++) {
    const next: string[] = [];
    for (const folder of level) {
      if (visited++ >= MAX_FOLDERS || found.length >= MAX_FOUND) return found;
      for (const entry of await entriesOf(folder)) {
        if (entry.isDirectory() && !SKIPPED.has(entry.name)) next.push(join(folder, entry.name));
        else if (entry.name === name) found.push(join(folder, entry.name));
      }
    }
    level = next;
  }
  return found.slice(0, MAX_FOUND);
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    // A folder that may not be read, or was removed meanwhile, has nothing to suggest.
    if (codeOf(error) !== undefined) return [];
    throw error;
  }
}

/** A path as short as it can be said: relative inside the working directory, absolute elsewhere. */
export function display(path: string, cwd: string): string {
  const short = relative(cwd, path);
  if (short === "") return ".";
  return short.startsWith("..") ? path : short;
}
