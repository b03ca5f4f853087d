import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { kindOf } from "../platform/files.ts";

/**
 * Opens a session file for reading; the caller closes it. Pipes, sockets and devices are refused: reading them may
 * never end, and a pipe without a writer may not even be opened.
 *
 * @throws a system error, with the code EISDIR or EINVAL for what is not a regular file
 */
export function openSessionFile(path: string): number {
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  const stats = fstatSync(fd);
  if (stats.isFile()) return fd;
  closeSync(fd);
  const code = stats.isDirectory() ? "EISDIR" : "EINVAL";
  throw Object.assign(new Error(`it is ${kindOf(stats)}, not a file; give the path of a session's file`), { code });
}
