import { constants, type Stats } from "node:fs";
import { access, type FileHandle, open, readFile, rename, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { asFileProblem, FileProblem } from "./file-problem.ts";
import { makeFolder } from "./make-folder.ts";
import { codeOf } from "./thrown.ts";

/** `cp` of no data takes some 2 ms. */
const ATTRIBUTES_MS = 5_000;

export interface ReplaceOptions {
  /** The name for messages; default: the real path. */
  readonly shownAs?: string;
  /** The version the new content was made from: the write is refused when another one is there by now. */
  readonly expected?: Pick<Stats, "ino" | "size" | "mtimeMs">;
}

/** What is at a path, links followed; `undefined` when nothing is. Other errors throw. */
export async function statOrMissing(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Writes a whole file so that no reader and no crash ever sees half of it: a temporary file beside it, flushed, then
 * renamed over it. `realPath` must have its links followed (`realTarget`); folders are made; mode bits, owner,
 * access list and extended attributes of an existing file are kept, a new one gets what the umask leaves. A file with
 * several hard links, a mount point, one in a folder that takes no new files and one whose owner cannot be kept are
 * written in place, with the old bytes put back on failure: a rename would cut them
 * loose. Throws a `FileProblem`; then the old content is untouched and no temporary file is left.
 */
export async function replaceFile(
  realPath: string,
  content: readonly Uint8Array[],
  options: ReplaceOptions = {},
): Promise<void> {
  const shown = options.shownAs ?? realPath;
  try {
    const existing = await statOrMissing(realPath);
    if (existing) await checkWritable(realPath, existing, shown);
    checkVersion(existing, options.expected, shown);
    if (!existing) makeFolder(dirname(realPath));
    if (existing && existing.nlink > 1) return await overwrite(realPath, content);
    if (!(await swapIn(realPath, content, existing))) await overwrite(realPath, content);
  } catch (error) {
    throw asFileProblem(error, "write", shown);
  }
}

async function checkWritable(realPath: string, existing: Stats, shown: string): Promise<void> {
  if (existing.isDirectory()) throw new FileProblem("EISDIR", `Cannot write ${shown}: it is a folder.`);
  if (!existing.isFile()) {
    throw new FileProblem("NOT_A_FILE", `Cannot write ${shown}: it is ${kindOf(existing)}, not a regular file.`);
  }
  // A rename needs no right on the old file, so a read-only file is asked about here.
  await access(realPath, constants.W_OK);
}

function checkVersion(existing: Stats | undefined, expected: ReplaceOptions["expected"], shown: string): void {
  if (!expected) return;
  const same =
    existing &&
    existing.ino === expected.ino &&
    existing.size === expected.size &&
    existing.mtimeMs === expected.mtimeMs;
  if (same) return;
  throw new FileProblem(
    "CHANGED",
    `${shown} was changed by another program just now. Nothing was written: read it again.`,
  );
}

/** For messages: what a path that is not a regular file is. */
export function kindOf(stats: Stats): string {
  const kinds: readonly (readonly [boolean, string])[] = [
    [stats.isDirectory(), "a folder"],
    [stats.isFIFO(), "a named pipe"],
    [stats.isSocket(), "a socket"],
    [stats.isCharacterDevice(), "a character device"],
    [stats.isBlockDevice(), "a block device"],
  ];
  return kinds.find(([holds]) => holds)?.[1] ?? "a special file";
}

/** False when the file must be written in place instead; nothing has happened then. */
async function swapIn(realPath: string, content: readonly Uint8Array[], existing: Stats | undefined): Promise<boolean> {
  const temporary = join(dirname(realPath), `.tau-${Math.random().toString(36).slice(2, 12)}.tmp`);
  const handle = await openTemporary(temporary, existing);
  if (!handle) return false;
  try {
    if (existing) await copyAttributes(realPath, temporary);
    try {
      for (const chunk of content) await handle.writeFile(chunk);
      if (existing && !(await keepOwner(handle, existing))) return await dropTemporary(temporary);
      if (existing) await handle.chmod(existing.mode & 0o7777);
      await flush(handle);
    } finally {
      await handle.close();
    }
    await rename(temporary, realPath);
    return true;
  } catch (error) {
    await dropTemporary(temporary);
    // The target is a mount point of its own (a file bound into a container).
    if (existing && codeOf(error) === "EBUSY") return false;
    throw error;
  }
}

/** Undefined where the folder takes no new file, though the old one may be written (report R242). */
async function openTemporary(path: string, existing: Stats | undefined): Promise<FileHandle | undefined> {
  try {
    return await open(path, "wx", existing ? 0o600 : 0o666);
  } catch (error) {
    if (existing && ["EACCES", "EPERM", "EROFS"].includes(codeOf(error) ?? "")) return undefined;
    throw error;
  }
}

/**
 * Gives a new file the access list and the extended attributes of the old one (report R243), which Node cannot read. A
 * `cp` that knows no such option leaves them out, as do systems other than Linux.
 */
async function copyAttributes(from: string, to: string): Promise<void> {
  if (process.platform !== "linux") return;
  // Not at the top: a start that writes no file needs no processes.
  const { execFile } = await import("node:child_process");
  await new Promise<void>((resolve) => {
    const args = ["--attributes-only", "--preserve=mode,xattr", "--", from, to];
    execFile("cp", args, { timeout: ATTRIBUTES_MS }, () => resolve());
  });
}

async function dropTemporary(path: string): Promise<false> {
  await unlink(path).catch((error: unknown) => {
    if (codeOf(error) !== "ENOENT") throw error;
  });
  return false;
}

/** So that a power cut after the rename does not leave an empty file; some file systems have no such call. */
async function flush(handle: FileHandle): Promise<void> {
  try {
    await handle.datasync();
  } catch (error) {
    if (!["EINVAL", "ENOTSUP", "ENOSYS"].includes(codeOf(error) ?? "")) throw error;
  }
}

async function keepOwner(handle: FileHandle, existing: Stats): Promise<boolean> {
  const made = await handle.stat();
  if (made.uid === existing.uid && made.gid === existing.gid) return true;
  try {
    await handle.chown(existing.uid, existing.gid);
    return true;
  } catch (error) {
    if (codeOf(error) === "EPERM") return false;
    throw error;
  }
}

/** Written over first and cut after, so that a full disk is met before any old byte is given up for good. */
async function overwrite(realPath: string, content: readonly Uint8Array[]): Promise<void> {
  const before = await readFile(realPath);
  const handle = await open(realPath, "r+");
  try {
    await writeFrom(handle, content);
    await flush(handle);
  } catch (error) {
    await writeFrom(handle, [before]);
    throw error;
  } finally {
    await handle.close();
  }
}

async function writeFrom(handle: FileHandle, content: readonly Uint8Array[]): Promise<void> {
  let position = 0;
  for (const chunk of content) position += await writeAll(handle, chunk, position);
  await handle.truncate(position);
}

async function writeAll(handle: FileHandle, chunk: Uint8Array, position: number): Promise<number> {
  let done = 0;
  while (done < chunk.length) {
    const { bytesWritten } = await handle.write(chunk, done, chunk.length - done, position + done);
    done += bytesWritten;
  }
  return done;
}
