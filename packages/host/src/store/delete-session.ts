import { mkdirSync, readdirSync, realpathSync, renameSync, rmSync, statSync, utimesSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { codeOf } from "../platform/thrown.ts";
import { SessionFileError, SessionLockedError } from "./errors.ts";
import { listSessions } from "./list-sessions.ts";
import { createWriterLock, writerOf } from "./writer-lock.ts";

// Inside the project's folder: other programs take each folder of the sessions folder for a project.
const TRASH = ".trash";

/**
 * Moves a session file into the trash of its folder, or with `permanent` deletes it.
 *
 * @returns where it lies now; undefined when it is gone
 * @throws SessionLockedError while a process writes to it
 * @throws SessionFileError when there is no such file
 */
export function deleteSession(path: string, { permanent = false }: { permanent?: boolean } = {}): string | undefined {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) {
    throw new SessionFileError({ code: "not_found", path, message: `there is no session file ${path}` });
  }
  // Held meanwhile: a look at the lock alone would let a writer in between the look and the move.
  const lock = createWriterLock(realpathSync(path));
  lock.acquire();
  try {
    if (!permanent) return moveToTrash(path);
    rmSync(path);
    return undefined;
  } finally {
    lock.release();
  }
}

function moveToTrash(path: string): string {
  const trash = join(dirname(path), TRASH);
  mkdirSync(trash, { recursive: true, mode: 0o700 });
  const target = join(trash, basename(path));
  renameSync(path, target);
  // From now on its age is the time in the trash.
  const now = new Date();
  utimesSync(target, now, now);
  return target;
}

export interface CleanupOptions {
  /** Sessions that nobody wrote to since then go to the trash; what lies there longer is deleted. Milliseconds since 1970. */
  before: number;
  cwd?: string;
}

/**
 * Retention (R109): old sessions into the trash, old trash away. Sessions with a name or a live writer stay.
 *
 * @returns the paths of both
 */
export function cleanUpSessions(
  sessionsDir: string,
  options: CleanupOptions,
): { trashed: string[]; deleted: string[] } {
  const deleted = folders(sessionsDir).flatMap((folder) => emptyTrash(join(folder, TRASH), options.before));
  const sessions = listSessions(sessionsDir, options.cwd === undefined ? {} : { cwd: options.cwd });
  const old = sessions.filter(({ name, path }) => !name && changedAt(path) < options.before && !writerOf(path));
  return { trashed: old.map(({ path }) => path).filter(trashed), deleted };
}

/** Milliseconds since 1970. A file that somebody touched stays, whatever the times in it: losing one is worse. */
function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY;
}

/** Whether it went to the trash; another process may have begun to write to it, or have taken it away. */
function trashed(path: string): boolean {
  try {
    return deleteSession(path) !== undefined;
  } catch (error) {
    if (error instanceof SessionLockedError || error instanceof SessionFileError) return false;
    throw error;
  }
}

function emptyTrash(trash: string, before: number): string[] {
  const old = folders(trash).filter((path) => statSync(path).mtimeMs < before);
  for (const path of old) rmSync(path, { recursive: true, force: true });
  return old;
}

function folders(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return [];
  }
}
