import { isUtf8 } from "node:buffer";
import { isDamagedUtf8, type TextEncoding, withoutTornTail } from "./text-encoding.ts";

export interface AtOnce {
  /** What the mark or the zero bytes say; absent: an encoding whose ASCII characters are single bytes. */
  readonly known: TextEncoding | undefined;
  /** Bytes may end in half a character. */
  readonly cut: boolean;
}

/**
 * Text for reading only, without loading the tables of older encodings: UTF-8, UTF-16, UTF-32, and Latin-1 (as its superset
 * windows-1252) where the bytes look like it. Undefined for all others.
 */
export function decodeAtOnce(bytes: Buffer, { known, cut }: AtOnce): string | undefined {
  if (known) return decodeUnicode(known.name, bytes.subarray(known.bomLength));
  const whole = cut ? withoutTornTail(bytes) : bytes;
  if (isUtf8(whole) || isDamagedUtf8(Buffer.from(whole))) return decodeUnicode("utf-8", whole);
  return looksLikeLatin1(bytes) ? decodeWindows1252(bytes) : undefined;
}

function decodeUnicode(name: string, bytes: Uint8Array): string {
  if (!name.startsWith("utf-32")) return new TextDecoder(name).decode(bytes);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength & ~3);
  const points: string[] = [];
  for (let at = 0; at < view.byteLength; at += 4) {
    const point = view.getUint32(at, name.endsWith("le"));
    points.push(point <= 0x10ffff ? String.fromCodePoint(point) : "\ufffd");
  }
  return points.join("");
}

/** What windows-1252 has from 0x80 to 0x9f, by the WHATWG Encoding Standard. Node's own decoder reads Latin-1 there. */
const HIGH_CONTROLS = [
  ..."\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f",
  ..."\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178",
];

function decodeWindows1252(bytes: Buffer): string {
  return bytes.toString("latin1").replace(/[\x80-\x9f]/g, (char) => HIGH_CONTROLS[char.charCodeAt(0) - 0x80] ?? char);
}

/** Letters above ASCII at most so many in a row, in nearly all places; in other alphabets they form whole words. */
const LONGEST_RUN = 2;
const MIN_SHARE = 0.9;

function looksLikeLatin1(bytes: Uint8Array): boolean {
  let short = 0;
  let all = 0;
  for (let at = 0; at < bytes.length; ) {
    let end = at;
    while ((bytes[end] ?? 0) >= 0x80) end++;
    all += end - at;
    if (end - at <= LONGEST_RUN) short += end - at;
    at = end + 1;
  }
  return short >= all * MIN_SHARE;
}
