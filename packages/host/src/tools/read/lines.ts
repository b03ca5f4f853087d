import type { FileHandle } from "node:fs/promises";
import { withoutTornTail } from "../../platform/text-encoding.ts";

/** How lines end in a file: one byte, or one 16- or 32-bit unit. */
export interface LineUnit {
  readonly width: 1 | 2 | 4;
  readonly bigEndian: boolean;
}

export interface LineRequest {
  readonly unit: LineUnit;
  /** Byte offset of the first line: after a byte order mark. */
  readonly start: number;
  /** First line wanted, from 1. */
  readonly firstLine: number;
  readonly maxLines: number;
  readonly maxBytes: number;
  /** How many bytes may be read after the slice, only to tell how many lines there are. */
  readonly countBudget: number;
  readonly signal: AbortSignal;
}

export type LineSlice =
  | {
      readonly found: true;
      /** Whole lines with their line ends; only the head of the line when `cut`. */
      readonly bytes: Buffer;
      /** Where `bytes` begin in the file. */
      readonly start: number;
      readonly lines: number;
      /** The one line in `bytes` is longer than `maxBytes`. */
      readonly cut: boolean;
      /** Something follows what is shown. */
      readonly more: boolean;
      /** Lines of the whole file, when that was cheap to find out. */
      readonly total?: number;
    }
  /** The file has fewer lines than `firstLine`. */
  | { readonly found: false; readonly total: number };

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 10;

interface Count {
  readonly newlines: number;
  /** Where counting stopped: after the last newline wanted, or at the end of the file or budget. */
  readonly position: number;
  readonly reachedEnd: boolean;
  /** The file does not end in a newline, and holds something after the last one. */
  readonly openLine: boolean;
}

/**
 * Reads lines by number in memory that does not depend on the size of the file or of its lines (R055): newlines before
 * the first line are counted over one fixed buffer, then at most `maxBytes` are read.
 */
export async function readLines(file: FileHandle, request: LineRequest): Promise<LineSlice> {
  const { start, firstLine, signal } = request;
  const skipped = await countNewlines(file, request, {
    from: start,
    stopAfter: firstLine - 1,
    budget: Infinity,
    signal,
  });
  if (skipped.newlines < firstLine - 1) {
    return { found: false, total: skipped.newlines + (skipped.openLine ? 1 : 0) };
  }
  const window = await readAt(file, skipped.position, request.maxBytes + request.unit.width);
  if (window.length === 0) return { found: false, total: firstLine - 1 };
  return sliceOf(file, request, { window, start: skipped.position });
}

async function sliceOf(
  file: FileHandle,
  request: LineRequest,
  { window, start }: { window: Buffer; start: number },
): Promise<LineSlice> {
  const { unit, maxBytes, maxLines, firstLine, signal } = request;
  const whole = window.length <= maxBytes;
  const ends = lineEnds(window.subarray(0, maxBytes), unit, maxLines);
  if (whole && ends.length < maxLines && ends.at(-1) !== window.length) ends.push(window.length);
  const end = ends.at(-1);
  if (end === undefined) {
    const head = wholeCharacters(window.subarray(0, maxBytes), unit);
    return { found: true, bytes: head, start, lines: 1, cut: true, more: true };
  }
  const shown = { found: true as const, bytes: window.subarray(0, end), start, lines: ends.length, cut: false };
  const last = firstLine - 1 + ends.length;
  if (whole && end === window.length) return { ...shown, more: false, total: last };
  const rest = await countNewlines(file, request, {
    from: start + end,
    stopAfter: Infinity,
    budget: request.countBudget,
    signal,
  });
  if (!rest.reachedEnd) return { ...shown, more: true };
  const total = last + rest.newlines + (rest.openLine ? 1 : 0);
  return { ...shown, more: total > last, total };
}

/** Without the first half of a character at the end. */
function wholeCharacters(bytes: Buffer, { width, bigEndian }: LineUnit): Buffer {
  if (width === 1) return bytes.subarray(0, withoutTornTail(bytes).length);
  const high = bytes[bytes.length - (bigEndian ? 2 : 1)] ?? 0;
  // The first half of a surrogate pair of UTF-16.
  return width === 2 && high >= 0xd8 && high <= 0xdb ? bytes.subarray(0, -2) : bytes;
}

/** Offsets just after the newlines in `bytes`, at most `max` of them. */
function lineEnds(bytes: Buffer, unit: LineUnit, max: number): number[] {
  const ends: number[] = [];
  for (let index = 0; index + unit.width <= bytes.length && ends.length < max; index += unit.width) {
    if (isNewline(bytes, index, unit)) ends.push(index + unit.width);
  }
  return ends;
}

function isNewline(bytes: Buffer, index: number, { width, bigEndian }: LineUnit): boolean {
  if (width === 1) return bytes[index] === NEWLINE;
  const low = bigEndian ? index + width - 1 : index;
  if (bytes[low] !== NEWLINE) return false;
  for (let other = index; other < index + width; other++) {
    if (other !== low && bytes[other] !== 0) return false;
  }
  return true;
}

interface CountRequest {
  readonly from: number;
  readonly stopAfter: number;
  readonly budget: number;
  readonly signal: AbortSignal;
}

async function countNewlines(
  file: FileHandle,
  { unit }: { unit: LineUnit },
  { from, stopAfter, budget, signal }: CountRequest,
): Promise<Count> {
  let position = from;
  let newlines = 0;
  let openLine = false;
  if (stopAfter === 0) return { newlines, position, reachedEnd: false, openLine };
  if (Number.isFinite(budget)) {
    // A file that cannot be counted to its end is not started on.
    const { size } = await file.stat();
    if (size - from > budget) return { newlines, position, reachedEnd: false, openLine };
  }
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  for (;;) {
    signal.throwIfAborted();
    const chunk = await fill(file, buffer, position);
    const { count, end } = countIn(chunk, unit, stopAfter - newlines);
    newlines += count;
    if (chunk.length > 0) openLine = !(chunk.length >= unit.width && isNewline(chunk, chunk.length - unit.width, unit));
    if (newlines === stopAfter) return { newlines, position: position + end, reachedEnd: false, openLine };
    position += chunk.length;
    if (chunk.length < buffer.length) return { newlines, position, reachedEnd: true, openLine };
  }
}

function countIn(chunk: Buffer, unit: LineUnit, wanted: number): { count: number; end: number } {
  let count = 0;
  if (unit.width > 1) {
    for (let index = 0; index + unit.width <= chunk.length; index += unit.width) {
      if (isNewline(chunk, index, unit) && ++count === wanted) return { count, end: index + unit.width };
    }
    return { count, end: chunk.length };
  }
  for (let index = 0; index < chunk.length; index++) {
    if (chunk[index] === NEWLINE && ++count === wanted) return { count, end: index + 1 };
  }
  return { count, end: chunk.length };
}

/** Reads `length` bytes, fewer only at the end of the file: chunks must not split a 16-bit unit. */
export async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  return fill(file, Buffer.alloc(length), position);
}

async function fill(file: FileHandle, buffer: Buffer, position: number): Promise<Buffer> {
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}
