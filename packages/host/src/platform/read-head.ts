import { closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs";
import { isatty } from "node:tty";
import { codeOf } from "./thrown.ts";

/** The first bytes of a file. */
export interface FileHead {
  readonly bytes: Buffer;
  /** Bytes of the whole file, as far as it says; what was read at least. */
  readonly size: number;
  /** There is more than `bytes`. */
  readonly cut: boolean;
}

/** A file that could not be used, in words fit for a warning. */
export interface Unreadable {
  readonly reason: string;
}

export interface HeadOptions {
  readonly maxBytes: number;
  /** Pipes and devices are read too: for paths that the user wrote by hand, such as those of `<(command)`. */
  readonly streams?: boolean;
}

const CHUNK_BYTES = 64 * 1024;

/**
 * Reads at most `maxBytes` of a file. Undefined when there is no such file. Its size is not asked how much to read:
 * files of /proc and of some network drives say 0. Folders are refused, and pipes and devices unless they are asked for:
 * reading one could hang the start. Terminals always are.
 */
export function readHead(path: string, { maxBytes, streams = false }: HeadOptions): FileHead | Unreadable | undefined {
  let fd: number;
  try {
    // Without O_NONBLOCK opening a named pipe waits for a writer, and with it reading one does not.
    const isStream = streams && !statSync(path).isFile();
    fd = openSync(path, constants.O_RDONLY | (isStream ? 0 : (constants.O_NONBLOCK ?? 0)));
  } catch (error) {
    const code = codeOf(error) ?? String(error);
    return code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP" ? undefined : { reason: code };
  }
  try {
    const stat = fstatSync(fd);
    if (stat.isDirectory()) return { reason: "it is a folder" };
    if (!stat.isFile() && !streams) return { reason: "it is not a regular file" };
    if (isatty(fd)) return { reason: "it is a terminal" };
    const bytes = readUpTo(fd, maxBytes + 1);
    const head = bytes.subarray(0, maxBytes);
    return { bytes: head, size: Math.max(stat.size, bytes.length), cut: bytes.length > maxBytes };
  } catch (error) {
    return { reason: codeOf(error) ?? String(error) };
  } finally {
    closeSync(fd);
  }
}

function readUpTo(fd: number, maxBytes: number): Buffer {
  const chunks: Buffer[] = [];
  for (let left = maxBytes; left > 0; ) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, left));
    const length = readSync(fd, chunk, 0, chunk.length, null);
    if (length === 0) break;
    chunks.push(chunk.subarray(0, length));
    left -= length;
  }
  return Buffer.concat(chunks);
}

export function isUnreadable(value: object): value is Unreadable {
  return "reason" in value;
}
