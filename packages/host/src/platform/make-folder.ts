import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { codeOf } from "./thrown.ts";

/**
 * Makes a folder and those above it, each with `mode` (default: what the umask leaves). Nothing happens when it is
 * there. Throws as `mkdirSync` does. The recursive form of Node never comes back where the system says that the parent
 * of a folder is missing although it is there, as in /proc.
 */
export function makeFolder(path: string, mode?: number): void {
  if (made(path, mode)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent, mode);
  // A second "missing" is the answer: the parent is there.
  if (!made(path, mode)) mkdirSync(path, { mode });
}

/** False when a folder above is missing. */
function made(path: string, mode: number | undefined): boolean {
  try {
    mkdirSync(path, { mode });
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return true;
    throw error;
  }
}
