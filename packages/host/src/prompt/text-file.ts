import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/** The head of a text file. `bytes` is the size on disk. */
export interface TextHead {
  readonly text: string;
  readonly bytes: number;
  readonly cut: boolean;
}

/** A file that could not be used, in words fit for a warning. */
export interface Unreadable {
  readonly reason: string;
}

/**
 * Reads at most `maxBytes` of a UTF-8 text file. Undefined when there is no such file. Folders, devices and pipes
 * are refused: reading one could hang the start.
 */
export function readTextHead(path: string, maxBytes: number): TextHead | Unreadable | undefined {
  let fd: number;
  try {
    // Without O_NONBLOCK opening a named pipe waits for a writer.
    fd = openSync(path, 0x800 /* O_NONBLOCK */);
  } catch (error) {
    const code = codeOf(error);
    return code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP" ? undefined : { reason: code };
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) return { reason: stat.isDirectory() ? "it is a folder" : "it is not a regular file" };
    return readHead(fd, stat.size, maxBytes);
  } catch (error) {
    return { reason: codeOf(error) };
  } finally {
    closeSync(fd);
  }
}

function readHead(fd: number, size: number, maxBytes: number): TextHead | Unreadable {
  const buffer = Buffer.alloc(Math.min(size, maxBytes));
  let length = 0;
  while (length < buffer.length) {
    const got = readSync(fd, buffer, length, buffer.length - length, length);
    if (got === 0) break;
    length += got;
  }
  const bytes = buffer.subarray(0, length);
  if (bytes.includes(0)) return { reason: "it is not a text" };
  // stream: true drops a character that was cut in the middle instead of showing it as U+FFFD.
  const text = new TextDecoder("utf-8").decode(bytes, { stream: size > length }).replace(/\r\n/g, "\n");
  return { text, bytes: size, cut: size > length };
}

export function isUnreadable(value: TextHead | Unreadable): value is Unreadable {
  return "reason" in value;
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
