import { isUtf8 } from "node:buffer";
import { importIconv, type TextEncoding } from "./text-encoding.ts";

/**
 * Reads and writes one encoding so that nothing is lost: `decode` gives a text of which every piece, measured by
 * `byteLength`, stands for exactly its bytes, bytes that are not a character included (they become lone surrogates
 * U+DC80 to U+DCFF).
 */
export interface TextCodec {
  readonly name: string;
  decode(bytes: Buffer): string;
  /** `undefined` when the encoding has no bytes for a character of `text`. */
  encode(text: string): Buffer | undefined;
  /** Bytes behind a piece of decoded text. */
  byteLength(piece: string): number;
}

const UTF8: TextCodec = {
  name: "utf-8",
  decode: (bytes) => bytes.toString("utf8"),
  encode: (text) => Buffer.from(text, "utf8"),
  byteLength: (piece) => Buffer.byteLength(piece, "utf8"),
};

const LONE_ESCAPE = /(?<![\ud800-\udbff])[\udc80-\udcff]/g;

const DAMAGED_UTF8: TextCodec = {
  ...UTF8,
  decode: decodeWithEscapes,
  byteLength(piece) {
    // A lone surrogate counts as the three bytes of U+FFFD there, and stands for one.
    const escapes = piece.match(LONE_ESCAPE)?.length ?? 0;
    return Buffer.byteLength(piece, "utf8") - 2 * escapes;
  },
};

const UTF16LE: TextCodec = {
  name: "utf-16le",
  decode: (bytes) => bytes.toString("utf16le"),
  encode: (text) => Buffer.from(text, "utf16le"),
  byteLength: (piece) => piece.length * 2,
};

const UTF16BE: TextCodec = {
  name: "utf-16be",
  decode: (bytes) =>
    Buffer.from(bytes.subarray(0, bytes.length & ~1))
      .swap16()
      .toString("utf16le"),
  encode: (text) => Buffer.from(text, "utf16le").swap16(),
  byteLength: (piece) => piece.length * 2,
};

/** Every byte is a character: what is left when a guessed encoding does not bring the bytes back. */
const LATIN1: TextCodec = {
  name: "latin1",
  decode: (bytes) => bytes.toString("latin1"),
  encode: (text) => (/^[\0-\xff]*$/.test(text) ? Buffer.from(text, "latin1") : undefined),
  byteLength: (piece) => piece.length,
};

/** The codec for a whole text (without its mark) in a detected encoding; `bytes` decide whether it is damaged. */
export async function codecFor({ name }: TextEncoding, bytes: Buffer): Promise<TextCodec> {
  if (name === "utf-8") return isUtf8(bytes) ? UTF8 : DAMAGED_UTF8;
  if (name === "utf-16le") return UTF16LE;
  if (name === "utf-16be") return UTF16BE;
  const legacy = await legacyCodec(name);
  return legacy.encode(legacy.decode(bytes))?.equals(bytes) ? legacy : LATIN1;
}

async function legacyCodec(name: string): Promise<TextCodec> {
  const iconv = await importIconv();
  const plain = { stripBOM: false, addBOM: false };
  return {
    name,
    decode: (bytes) => iconv.decode(bytes, name, plain),
    encode(text) {
      const bytes = iconv.encode(text, name, plain);
      return iconv.decode(bytes, name, plain) === text ? bytes : undefined;
    },
    byteLength: (piece) => iconv.encode(piece, name, plain).length,
  };
}

/** UTF-8 in which every byte that belongs to no valid character becomes U+DC00 + byte. */
function decodeWithEscapes(bytes: Buffer): string {
  const parts: string[] = [];
  let start = 0;
  for (let index = 0; index < bytes.length; ) {
    const size = characterSize(bytes, index);
    if (size > 0) {
      index += size;
      continue;
    }
    parts.push(bytes.toString("utf8", start, index), String.fromCharCode(0xdc00 + (bytes[index] ?? 0)));
    index++;
    start = index;
  }
  parts.push(bytes.toString("utf8", start));
  return parts.join("");
}

/** Bytes of the valid character at `index`; 0 when there is none (RFC 3629, section 4). */
function characterSize(bytes: Buffer, index: number): number {
  const first = bytes[index] ?? 0;
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  const second = bytes[index + 1] ?? 0;
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (second < low || second > high) return 0;
  for (let next = index + 2; next < index + size; next++) {
    if (((bytes[next] ?? 0) & 0xc0) !== 0x80) return 0;
  }
  return size;
}

/** Text for reading only: what cannot be decoded becomes U+FFFD. `bytes` have no mark and may be cut anywhere. */
export async function decodeForReading({ name }: TextEncoding, bytes: Buffer): Promise<string> {
  if (name === "utf-8") return UTF8.decode(bytes);
  const codec = await codecFor({ name, bomLength: 0 }, bytes);
  return codec.decode(bytes);
}
