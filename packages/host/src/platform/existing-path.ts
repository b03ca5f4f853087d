import type { Stats } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { asFileProblem, FileProblem } from "./file-problem.ts";
import { missingFile } from "./missing-file.ts";
import { type PathBase, resolvePath } from "./real-path.ts";
import { codeOf } from "./thrown.ts";

export interface ExistingPath {
  /** Absolute, as it is on the disk; links are not followed. */
  readonly path: string;
  readonly stats: Stats;
  /** The name on the disk is not the one that was given, only one that looks the same. */
  readonly renamed: boolean;
}

/**
 * Finds what a path of the model means, for reading only: the exact path first; then without a leading `@` (models copy
 * it from mentions); then the one name in each folder that looks the same (R069): Unicode composition, special spaces
 * and curly quotes are lost when a name passes through a model. Throws a `FileProblem` that names the candidates when
 * there are several, and near names when there is none.
 */
export async function findExisting(path: string, base: PathBase): Promise<ExistingPath> {
  const given = resolvePath(path, base);
  const readings = path.startsWith("@") && path.length > 1 ? [given, resolvePath(path.slice(1), base)] : [given];
  for (const reading of readings) {
    const stats = await statIfThere(reading, path);
    if (stats) return { path: reading, stats, renamed: false };
  }
  for (const reading of readings) {
    const found = await lookAlike(reading, path);
    const stats = found === undefined ? undefined : await statIfThere(found, path);
    if (found !== undefined && stats) return { path: found, stats, renamed: true };
    if (found !== undefined) throw new FileProblem("ENOENT", `${path} is a link to a file that does not exist.`);
  }
  throw await missingFile(path, given, base.cwd);
}

async function statIfThere(path: string, shown: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    const code = codeOf(error);
    // A name too long for the system names nothing.
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ENAMETOOLONG") return undefined;
    throw asFileProblem(error, "read", shown);
  }
}

/** Walks up to the deepest folder that exists, and down again by folded names. */
async function lookAlike(path: string, shown: string): Promise<string | undefined> {
  const folder = dirname(path);
  if (folder === path) return undefined;
  const there = (await statIfThere(folder, shown)) ? folder : await lookAlike(folder, shown);
  if (!there) return undefined;
  const exact = join(there, basename(path));
  if (there !== folder && (await statIfThere(exact, shown))) return exact;
  const wanted = foldName(basename(path));
  const names = (await namesIn(there)).filter((name) => foldName(name) === wanted);
  if (names.length > 1) {
    const list = names.map((name) => spellOut(name)).join(", ");
    throw new FileProblem("AMBIGUOUS", `${shown} does not exist, but ${names.length} names look the same: ${list}.`);
  }
  const [only] = names;
  return only === undefined ? undefined : join(there, only);
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (codeOf(error) === "EACCES" || codeOf(error) === "ENOTDIR") return [];
    throw error;
  }
}

/** What a name looks like: composed, with plain spaces and straight quotes. Letters and their case stay. */
function foldName(name: string): string {
  return name
    .normalize("NFC")
    .replace(/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, " ")
    .replace(/[\u2018\u2019\u201a\u201b]/g, "'")
    .replace(/[\u201c\u201d\u201e\u201f]/g, '"');
}

/** A name in quotes with everything outside ASCII as `\u` escapes, so that twins can be told apart and typed. */
export function spellOut(name: string): string {
  const spell = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(name).replace(/[\u007f-\uffff]/g, spell);
}
