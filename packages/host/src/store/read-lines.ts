import { readSync } from "node:fs";

// Small enough for the text of a chunk to die young, measured on 20,000 messages.
const CHUNK_BYTES = 64 * 1024;
// Half of what a JavaScript string can hold; a longer line cannot be an entry and is passed over.
const MAX_LINE_BYTES = 256 * 1024 * 1024;
const LF = 10;

export interface LineReader {
  fd: number;
  /** One line without its LF, and where it lies in the file. */
  onLine: (line: string, place: LinePlace) => void;
  /** A line too long to be an entry. */
  onOversized: () => void;
  chunkBytes?: number;
  maxLineBytes?: number;
}

/** In bytes. */
export interface LinePlace {
  offset: number;
  length: number;
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
    if (have === buffer.length) buffer = grown(buffer);
    const count = readSync(reader.fd, buffer, have, buffer.length - have, base + have);
    if (count === 0) break;
    const to = have + count;
    const newLf = buffer.subarray(have, to).lastIndexOf(LF);
    const end = newLf < 0 ? 0 : have + newLf + 1;
    if (end > 0) takeLines(reader, { bytes: buffer.subarray(0, end), base, oversized });
    oversized = oversized && end === 0;
    buffer.copyWithin(0, end, to);
    base += end;
    have = to - end;
    if (have > maxLine) {
      oversized = true;
      base += have;
      have = 0;
    }
  }
  if (oversized) reader.onOversized();
  else if (have > 0) reader.onLine(buffer.toString("utf8", 0, have), { offset: base, length: have });
  return { size: base + have, terminated: have === 0 && !oversized };
}

/** Whole lines; `oversized`: the first one is the end of a line that was passed over. */
interface Lines {
  bytes: Buffer;
  base: number;
  oversized: boolean;
}

function takeLines(reader: LineReader, { bytes, base, oversized }: Lines): void {
  const from = oversized ? bytes.indexOf(LF) + 1 : 0;
  if (oversized) reader.onOversized();
  const text = bytes.toString("utf8", from);
  const lines = { bytes, text, from, base };
  // As many characters as bytes: a character's number is its byte's, and one decoding serves all lines.
  if (text.length === bytes.length - from) takeSingleByteLines(reader, lines);
  else takeMultiByteLines(reader, lines);
}

interface DecodedLines {
  bytes: Buffer;
  text: string;
  /** Byte of `bytes` at which `text` begins. */
  from: number;
  base: number;
}

function takeSingleByteLines(reader: LineReader, { text, from, base }: DecodedLines): void {
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf("\n", start);
    reader.onLine(text.slice(start, end), { offset: base + from + start, length: end - start });
    start = end + 1;
  }
}

function takeMultiByteLines(reader: LineReader, { bytes, text, from, base }: DecodedLines): void {
  let at = from;
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf("\n", start);
    const next = bytes.indexOf(LF, at);
    reader.onLine(text.slice(start, end), { offset: base + at, length: next - at });
    start = end + 1;
    at = next + 1;
  }
}

function grown(buffer: Buffer): Buffer {
  const larger = Buffer.allocUnsafeSlow(buffer.length * 2);
  buffer.copy(larger);
  return larger;
}
