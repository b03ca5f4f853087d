import { readSync } from "node:fs";

/** The bytes of an open file from one place to another; fewer where the file ends before. */
export function readBytes(fd: number, from: number, to: number): Buffer {
  const bytes = Buffer.allocUnsafe(Math.max(0, to - from));
  let have = 0;
  while (have < bytes.length) {
    const count = readSync(fd, bytes, have, bytes.length - have, from + have);
    if (count === 0) break;
    have += count;
  }
  return bytes.subarray(0, have);
}
