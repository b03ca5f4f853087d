import { chmodSync, lstatSync, mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { codeOf } from "./thrown.ts";

export interface TemporaryFolder {
  /** Absolute. */
  readonly path: string;
  /** One line, when it is not the usual folder. */
  readonly warnings: readonly string[];
}

const PRIVATE = 0o700;

/**
 * The folder for outputs that are too long for a model: `tau-<uid>` below `parent`, for this user alone. On a shared
 * machine anybody may have taken that name first, with a folder or a link: then a new folder of another name is made.
 *
 * @param parent default: the system's folder for temporary files
 */
export function temporaryFolder(parent = tmpdir()): TemporaryFolder {
  const uid = process.getuid?.();
  const usual = join(parent, `tau-${uid ?? "user"}`);
  try {
    if (isOwn(usual, uid)) return { path: usual, warnings: [] };
    const path = mkdtempSync(`${usual}-`);
    return { path, warnings: [`${usual} is not a folder of this user; long outputs are kept in ${path}`] };
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    // Nothing can be made there, which the first output that is too long will show.
    return { path: usual, warnings: [] };
  }
}

/** Makes the folder, or sees that the one there is of this user and closed to all others. */
function isOwn(path: string, uid: number | undefined): boolean {
  try {
    mkdirSync(path, { mode: PRIVATE });
    return true;
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
  const stat = lstatSync(path);
  if (!stat.isDirectory() || (uid !== undefined && stat.uid !== uid)) return false;
  if (uid !== undefined && (stat.mode & 0o077) !== 0) chmodSync(path, PRIVATE);
  return true;
}
