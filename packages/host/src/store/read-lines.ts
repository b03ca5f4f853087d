import { readSync } from "node:fs";

const CHUNK_BYTES = 256 * 1024;
// Half of what a JavaScript string can hold; a longer line cannot be an entry and is passed over.
const MAX_LINE_BYTES = 256 * 1024 * 1024;
const LF = 10;

export interface LineReader {
  fd: number;
  /** One line without its LF, at byte `offset` of the file. `bytes` is only valid during the call. */
  onLine: (bytes: Buffer, place: LinePlace) => void;
  /** A line too long to be an entry. */
  onOversized: () => void;
  chunkBytes?: number;
  maxLineBytes?: number;
}

/** Where a line lies: `start` and `end` in the buffer, `offset` in the file. */
export interface LinePlace {
  start: number;
  end: number;
  offset: number;
}

/**
 * Reads a file line by line in bounded memory: the longest line and a chunk. Lines end at LF alone (law F1).
 *
 * @returns the file's size in bytes, and whether its last byte is an LF (or it is empty)
 */
export function readLines(reader: LineReader): { size: number; terminated: boolean } {
  const maxLine = reader.maxLineBytes ?? MAX_LINE_BYTES;
  let buffer: Buffer = Buffer.allocUnsafeSlow(reader.chunkBytes ?? CHUNK_BYTES);
  let base = 0;
  let have = 0;
  let oversized = false;
  for (;;) {
    if (have === buffer.length) buffer = grown(buffer, maxLine);
    const count = readSync(reader.fd, buffer, have, buffer.length - have, base + have);
    if (count === 0) break;
    const window = { base, from: have, to: have + count, oversized };
    const start = takeLines(reader, buffer, window);
    oversized = oversized && start === 0;
    have += count;
    buffer.copyWithin(0, start, have);
    base += start;
    have -= start;
    if (have > maxLine) {
      oversized = true;
      base += have;
      have = 0;
    }
  }
  if (oversized) reader.onOversized();
  else if (have > 0) reader.onLine(buffer, { start: 0, end: have, offset: base });
  return { size: base + have, terminated: have === 0 && !oversized };
}

interface Window {
  base: number;
  from: number;
  to: number;
  oversized: boolean;
}

/** Hands over the complete lines of the buffer; returns where the rest begins. */
function takeLines(reader: LineReader, buffer: Buffer, { base, from, to, oversized }: Window): number {
  let start = 0;
  let search = from;
  let skip = oversized;
  for (;;) {
    const end = buffer.indexOf(LF, search);
    if (end < 0 || end >= to) return start;
    if (skip) reader.onOversized();
    else reader.onLine(buffer, { start, end, offset: base + start });
    skip = false;
    start = end + 1;
    search = start;
  }
}

function grown(buffer: Buffer, maxLine: number): Buffer {
  const size = Math.min(buffer.length * 2, Math.max(buffer.length + 1, maxLine + CHUNK_BYTES));
  const larger = Buffer.allocUnsafeSlow(size);
  buffer.copy(larger);
  return larger;
}
