import { closeSync, fstatSync, openSync } from "node:fs";
import { codeOf } from "../platform/thrown.ts";
import { parseObject } from "./parse-line.ts";
import { readBytes } from "./read-bytes.ts";

const HEAD_BYTES = 16 * 1024;
const TAIL_BYTES = 8 * 1024;
// The newest line may be a long one, such as a prompt with images. Zeros, which no line has, are not searched as far.
const MAX_TAIL_BYTES = 32 * 1024 * 1024;
const MAX_ZERO_BYTES = 512 * 1024;
const LF = 10;

/**
 * When a session was last written to, in milliseconds since 1970: the time of the last entry in its file, or that of
 * its header where this is later, as in a copy that begins with entries of another session. What has happened to the
 * file since counts only when no line of it has a time: a backup, a copy or a search touches files too (R220).
 */
export function writtenAt(fd: number): number {
  const { size, mtimeMs } = fstatSync(fd);
  const begun = timeOf(firstLine(fd, size));
  const last = lastTime(fd, size);
  if (begun === undefined && last === undefined) return mtimeMs;
  return Math.max(begun ?? 0, last ?? 0);
}

/** As `writtenAt`; 0 for a file that cannot be read. */
export function fileWrittenAt(path: string): number {
  try {
    const fd = openSync(path, "r");
    try {
      return writtenAt(fd);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return 0;
  }
}

function firstLine(fd: number, size: number): string {
  const bytes = readBytes(fd, 0, Math.min(size, HEAD_BYTES));
  const end = bytes.indexOf(LF);
  return bytes.toString("utf8", 0, end < 0 ? bytes.length : end);
}

/** The time of the last line that has one; a torn line has none, and neither have the zeros of a power loss. */
function lastTime(fd: number, size: number): number | undefined {
  for (let length = Math.min(size, TAIL_BYTES); ; length = Math.min(size, length * 8)) {
    const bytes = readBytes(fd, size - length, size);
    const lines = bytes.toString("utf8").split("\n");
    // The first one is cut off at its beginning unless the file begins there.
    const whole = length === size ? lines : lines.slice(1);
    for (const line of whole.reverse()) {
      const time = timeOf(line);
      if (time !== undefined) return time;
    }
    if (length === size || length >= (bytes[0] === 0 ? MAX_ZERO_BYTES : MAX_TAIL_BYTES)) return undefined;
  }
}

function timeOf(line: string): number | undefined {
  const stamp = line === "" ? undefined : parseObject(line)?.timestamp;
  const time = typeof stamp === "string" ? Date.parse(stamp) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}
