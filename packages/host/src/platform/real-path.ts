import { readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { asFileProblem, FileProblem } from "./file-problem.ts";
import { codeOf } from "./thrown.ts";

/** What relative paths and a leading `~` stand for. */
export interface PathBase {
  readonly cwd: string;
  readonly homeDir: string;
}

/** As many as Linux follows. */
const MAX_LINKS = 40;

/** The absolute path that was meant, character for character; the disk is not looked at. Throws on an empty path. */
export function resolvePath(path: string, { cwd, homeDir }: PathBase): string {
  if (path.trim() === "") throw new FileProblem("EMPTY_PATH", "The path is empty.");
  if (path.includes("\0")) throw new FileProblem("BAD_PATH", "The path holds a NUL character.");
  if (path === "~") return homeDir;
  return path.startsWith("~/") ? join(homeDir, path.slice(2)) : resolve(cwd, path);
}

/**
 * Where writing to an absolute path ends up: every symbolic link followed, also one whose target does not exist yet
 * (R059). Synchronous on purpose: a place in the write queue is taken before anything else can run (law G5).
 * Throws a `FileProblem` for a loop of links or a folder that may not be searched.
 */
export function realTarget(path: string): string {
  return follow(path, MAX_LINKS);
}

function follow(path: string, linksLeft: number): string {
  const existing = realOrMissing(path);
  if (existing !== undefined) return existing;
  if (linksLeft === 0) throw new FileProblem("ELOOP", `Cannot follow ${path}: its symbolic links form a loop (ELOOP).`);
  const folder = dirname(path);
  if (folder === path) return path;
  const here = join(follow(folder, linksLeft - 1), basename(path));
  const target = linkTarget(here);
  return target === undefined ? here : follow(resolve(dirname(here), target), linksLeft - 1);
}

function realOrMissing(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw asFileProblem(error, "follow", path);
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    // EINVAL: something other than a link is there; ENOENT: nothing is.
    const code = codeOf(error);
    if (code === "ENOENT" || code === "EINVAL" || code === "UNKNOWN") return undefined;
    throw asFileProblem(error, "follow", path);
  }
}

/**
 * What tells files apart for the write queue: the real path, and device and inode, since a file may have two names
 * that no link connects (hard links, file systems that ignore case).
 */
export function fileKeys(realPath: string): string[] {
  const stat = statSync(realPath, { throwIfNoEntry: false, bigint: true });
  return stat ? [realPath, `${stat.dev}:${stat.ino}`] : [realPath];
}
