import { closeSync, readSync } from "node:fs";
import { codeOf } from "../platform/thrown.ts";
import type { EntryPlace, ReadEntry } from "./entry-tree.ts";
import { parseEntryAgain } from "./load-session.ts";
import { openSessionFile } from "./open-session-file.ts";

const WINDOW_BYTES = 256 * 1024;

interface Window {
  offset: number;
  bytes: Buffer;
}

/** Reads entries again from a session file, whole windows at a time, since they are mostly asked for in file order. */
export function entryReader(path: string): ReadEntry {
  let window: Window = { offset: 0, bytes: Buffer.alloc(0) };
  return (place) => {
    if (!covers(window, place)) window = readWindow(path, place);
    if (!covers(window, place)) return undefined;
    const start = place.offset - window.offset;
    return parseEntryAgain(window.bytes.toString("utf8", start, start + place.length));
  };
}

function covers({ offset, bytes }: Window, place: EntryPlace): boolean {
  return place.offset >= offset && place.offset + place.length <= offset + bytes.length;
}

function readWindow(path: string, { offset, length }: EntryPlace): Window {
  const fd = openOrNothing(path);
  if (fd === undefined) return { offset, bytes: Buffer.alloc(0) };
  try {
    const bytes = Buffer.allocUnsafeSlow(Math.max(length, WINDOW_BYTES));
    let have = 0;
    while (have < bytes.length) {
      const count = readSync(fd, bytes, have, bytes.length - have, offset + have);
      if (count === 0) break;
      have += count;
    }
    return { offset, bytes: bytes.subarray(0, have) };
  } finally {
    closeSync(fd);
  }
}

/** Somebody may have taken the file away: the session continues with what it has in memory. */
function openOrNothing(path: string): number | undefined {
  try {
    return openSessionFile(path);
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return undefined;
  }
}
