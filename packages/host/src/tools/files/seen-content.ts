import { createHash } from "node:crypto";
import type { FileStamp, SeenFile, SeenRange } from "./file-reads.ts";

/** Bytes that start at `start` in their file, as they are remembered. */
export function seenRange(bytes: Uint8Array, start = 0): SeenRange {
  return { start, end: start + bytes.length, digest: digestOf(bytes) };
}

/**
 * True when something the model was shown of a file is no longer there. Equal stamps mean unchanged; else the bytes
 * decide, so that a file that was touched, or written again with the same content, is not called changed (R054).
 */
export function isStale(seen: SeenFile | undefined, stamp: FileStamp, content: Uint8Array): boolean {
  if (!seen || (seen.size === stamp.size && seen.mtimeMs === stamp.mtimeMs)) return false;
  return seen.ranges.some(
    ({ start, end, digest }) => end > content.length || digestOf(content.subarray(start, end)) !== digest,
  );
}

function digestOf(bytes: Uint8Array): string {
  return createHash("sha1").update(bytes).digest("base64");
}
