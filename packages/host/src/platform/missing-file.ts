import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { FileProblem } from "./file-problem.ts";
import { nearNames } from "./near-names.ts";
import { codeOf } from "./thrown.ts";

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
  if (shown.includes("\ufffd")) {
    hints.push(
      'In listings \ufffd stands for bytes that are not UTF-8; rename the file with a command, by a glob such as "a?b".',
    );
  }
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

/** Breadth first, so that the nearest ones are found within the bounds. */
async function sameName(name: string, root: string): Promise<string[]> {
  const found: string[] = [];
  const queue = [{ folder: root, depth: 1 }];
  for (const { folder, depth } of queue) {
    const entries = await entriesOf(folder);
    found.push(
      ...entries
        .filter((entry) => !entry.isDirectory() && entry.name === name)
        .map((entry) => join(folder, entry.name)),
    );
    if (found.length >= MAX_FOUND) break;
    if (depth === MAX_DEPTH) continue;
    const inner = entries.filter((entry) => entry.isDirectory() && !SKIPPED.has(entry.name));
    const room = Math.max(0, MAX_FOLDERS - queue.length);
    queue.push(...inner.slice(0, room).map((entry) => ({ folder: join(folder, entry.name), depth: depth + 1 })));
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

/** A path as short as it can be said: relative inside the working directory, absolute elsewhere; no slash at the end. */
export function display(path: string, cwd: string): string {
  const short = relative(cwd, path);
  if (short === "") return ".";
  return /^\.\.([/\\]|$)/.test(short) ? resolve(cwd, path) : short;
}
