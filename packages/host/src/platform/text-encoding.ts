import { isUtf8 } from "node:buffer";

/** How the bytes of a text are to be read. `name` is "utf-8", "utf-16le", "utf-16be" or a label of iconv-lite. */
export interface TextEncoding {
  readonly name: string;
  /** Bytes of the byte order mark at the start; 0 without one. */
  readonly bomLength: number;
}

/** Longest first: the mark of UTF-32LE begins with that of UTF-16LE. */
const MARKS: readonly { readonly name: string; readonly bytes: readonly number[] }[] = [
  { name: "utf-32le", bytes: [0xff, 0xfe, 0, 0] },
  { name: "utf-32be", bytes: [0, 0, 0xfe, 0xff] },
  { name: "utf-8", bytes: [0xef, 0xbb, 0xbf] },
  { name: "utf-16le", bytes: [0xff, 0xfe] },
  { name: "utf-16be", bytes: [0xfe, 0xff] },
];

/** Enough to tell encodings apart, and little enough to cost nothing. */
const SAMPLE_BYTES = 64 * 1024;

/** What a guess of chardet must reach to beat the default, of 100. */
const MIN_CONFIDENCE = 20;

/** The superset of Latin-1 that nearly all "Latin-1" files really are. */
const DEFAULT_LEGACY = "windows-1252";

/** Names of chardet that iconv-lite does not take, or that a superset reads better. */
const LEGACY_NAMES: Readonly<Record<string, string | undefined>> = {
  ASCII: undefined,
  "UTF-8": undefined,
  "ISO-8859-1": DEFAULT_LEGACY,
  "ISO-2022-JP": undefined,
  "ISO-2022-KR": undefined,
  "ISO-2022-CN": undefined,
  "UTF-16LE": undefined,
  "UTF-16BE": undefined,
};

/** The encoding that a byte order mark names. */
export function encodingOfMark(bytes: Uint8Array): TextEncoding | undefined {
  const mark = MARKS.find((candidate) => candidate.bytes.every((byte, index) => bytes[index] === byte));
  return mark && { name: mark.name, bomLength: mark.bytes.length };
}

/**
 * The encoding of a text by its first bytes: its mark, the zero bytes of UTF-16 without one, valid UTF-8, and only
 * then a guess among the older ones. `bytes` may be cut anywhere; whether they are text at all is not asked here.
 */
export async function detectEncoding(bytes: Uint8Array): Promise<TextEncoding> {
  return encodingOfMark(bytes) ?? wideEncoding(bytes) ?? detectNarrow(bytes);
}

/** The same for bytes that are known to have no mark and no 16-bit units, such as some lines out of a file. */
export async function detectNarrow(bytes: Uint8Array): Promise<TextEncoding> {
  if (isUtf8(withoutTornTail(bytes))) return { name: "utf-8", bomLength: 0 };
  const sample = linesAboveAscii(bytes);
  return { name: isDamagedUtf8(sample) ? "utf-8" : await guessLegacy(sample), bomLength: 0 };
}

/**
 * UTF-16 without a mark, told by where the zero bytes of its ASCII characters are: many in one half of the byte pairs,
 * hardly any in the other, and no pair that text has no use for (a table of small numbers has those).
 */
export function wideEncoding(bytes: Uint8Array): TextEncoding | undefined {
  const length = Math.min(bytes.length, 4096) & ~1;
  if (length < 2) return undefined;
  const zeros = [0, 0];
  for (let index = 0; index < length; index++) {
    if (bytes[index] === 0) zeros[index & 1] = (zeros[index & 1] ?? 0) + 1;
  }
  const [even = 0, odd = 0] = zeros;
  const pairs = length / 2;
  const name = odd * 2 > pairs && even === 0 ? "utf-16le" : even * 2 > pairs && odd === 0 ? "utf-16be" : undefined;
  if (!name) return undefined;
  const highByte = name === "utf-16le" ? 1 : 0;
  for (let index = 0; index < length; index += 2) {
    const low = bytes[index + 1 - highByte] ?? 0;
    if (bytes[index + highByte] === 0 && isStrangeControl(low)) return undefined;
  }
  return { name, bomLength: 0 };
}

/** Control characters that no text has: not tab, line ends, form feed, backspace, bell or escape. */
export function isStrangeControl(byte: number): boolean {
  return (byte < 0x07 || (byte > 0x0d && byte < 0x20) || byte === 0x7f) && byte !== 0x1b;
}

/** A cut may have left the first bytes of a character at the end; without them the rest can be judged. */
export function withoutTornTail(bytes: Uint8Array): Uint8Array {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return bytes;
    if (byte < 0xc0) continue;
    const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return size > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}

/** UTF-8 with single bad bytes in it: most bytes above ASCII form valid characters. */
export function isDamagedUtf8(sample: Buffer): boolean {
  const text = sample.toString("utf8");
  let good = 0;
  let bad = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 0xfffd) bad++;
    else if (code >= 0x80) good++;
  }
  return good > bad;
}

async function guessLegacy(sample: Buffer): Promise<string> {
  const [{ analyse }, { encodingExists }] = await Promise.all([import("#chardet"), importIconv()]);
  for (const { name, confidence } of analyse(sample)) {
    if (confidence < MIN_CONFIDENCE) break;
    const known = name in LEGACY_NAMES ? LEGACY_NAMES[name] : name;
    if (known !== undefined && encodingExists(known)) return known.toLowerCase();
  }
  return DEFAULT_LEGACY;
}

/** iconv-lite, loaded when the first text that is not Unicode shows up. */
export async function importIconv(): Promise<typeof import("iconv-lite")> {
  const module = await import("#iconv-lite");
  return module.default ?? module;
}

/** Only the lines that say something about the encoding, at most one sample of them. */
function linesAboveAscii(bytes: Uint8Array): Buffer {
  const parts: Uint8Array[] = [];
  let total = 0;
  for (let start = 0; start < bytes.length && total < SAMPLE_BYTES; ) {
    const newline = bytes.indexOf(10, start);
    const end = newline < 0 ? bytes.length : newline + 1;
    const line = bytes.subarray(start, Math.min(end, start + SAMPLE_BYTES));
    if (line.some((byte) => byte >= 0x80)) {
      parts.push(line);
      total += line.length;
    }
    start = end;
  }
  return Buffer.concat(parts);
}
