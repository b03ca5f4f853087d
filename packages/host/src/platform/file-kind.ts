import { encodingOfMark, isStrangeControl, wideEncoding } from "./text-encoding.ts";

/** What the first bytes of a file say it is (R057); names and suffixes are not asked. */
export type FileKind =
  | { readonly kind: "text" }
  | { readonly kind: "image"; readonly mimeType: ImageType }
  | { readonly kind: "binary"; readonly type: string };

export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

interface Signature {
  readonly type: string;
  /** As Latin-1 text. */
  readonly magic: string;
  readonly at?: number;
}

const IMAGES: readonly (Signature & { readonly type: ImageType })[] = [
  { type: "image/png", magic: "\x89PNG\r\n\x1a\n" },
  { type: "image/jpeg", magic: "\xff\xd8\xff" },
  { type: "image/gif", magic: "GIF87a" },
  { type: "image/gif", magic: "GIF89a" },
];

/** No text begins like this. */
const CERTAIN: readonly Signature[] = [
  { type: "ELF program or library", magic: "\x7fELF" },
  { type: "zip archive (or a document or package made of one)", magic: "PK\x03\x04" },
  { type: "zip archive", magic: "PK\x05\x06" },
  { type: "SQLite database", magic: "SQLite format 3\0" },
  { type: "gzip data", magic: "\x1f\x8b" },
  { type: "xz data", magic: "\xfd7zXZ\0" },
  { type: "zstd data", magic: "\x28\xb5\x2f\xfd" },
  { type: "bzip2 data", magic: "1AY&SY", at: 4 },
  { type: "7-zip archive", magic: "7z\xbc\xaf\x27\x1c" },
  { type: "rar archive", magic: "Rar!\x1a\x07" },
  { type: "PDF document", magic: "%PDF-" },
  { type: "tar archive", magic: "ustar", at: 257 },
  { type: "Mach-O program or library", magic: "\xcf\xfa\xed\xfe" },
  { type: "Mach-O program or library", magic: "\xce\xfa\xed\xfe" },
  { type: "Java class or Mach-O universal binary", magic: "\xca\xfe\xba\xbe" },
  { type: "WebAssembly module", magic: "\0asm" },
  { type: "old Office document", magic: "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" },
  { type: "Ogg media", magic: "OggS\0" },
  { type: "Matroska or WebM video", magic: "\x1aE\xdf\xa3" },
  { type: "TIFF image", magic: "II*\0" },
  { type: "TIFF image", magic: "MM\0*" },
];

/** Only believed when the content is not text: their letters could begin a sentence. */
const WHEN_BINARY: readonly Signature[] = [
  { type: "Windows program or library", magic: "MZ" },
  { type: "BMP image", magic: "BM" },
  { type: "icon image", magic: "\0\0\x01\0" },
  { type: "AVIF image", magic: "ftypavif", at: 4 },
  { type: "HEIC image", magic: "ftyphei", at: 4 },
  { type: "MP4 or QuickTime media", magic: "ftyp", at: 4 },
  { type: "MP3 audio", magic: "ID3" },
  { type: "FLAC audio", magic: "fLaC" },
  { type: "RIFF media (WAV, AVI)", magic: "RIFF" },
  { type: "ar archive or static library", magic: "!<arch>\n" },
  { type: "WOFF font", magic: "wOF" },
  { type: "OpenType font", magic: "OTTO" },
  { type: "TrueType font", magic: "\0\x01\0\0\0" },
  { type: "Parquet data", magic: "PAR1" },
  { type: "git pack", magic: "PACK" },
  { type: "Photoshop image", magic: "8BPS" },
];

/** A run of zero bytes as long as this is a hole or padding in a text, not data. */
const MIN_HOLE = 64;

/** Of a text that holds control characters anyway (terminal logs, old dumps), so much at most. */
const MAX_CONTROL_SHARE = 0.02;

/** Judges a file by its first bytes (64 KB are plenty). */
export function fileKind(head: Buffer): FileKind {
  const image = IMAGES.find((signature) => matches(head, signature));
  if (image) return { kind: "image", mimeType: image.type };
  if (head.toString("latin1", 0, 4) === "RIFF" && head.toString("latin1", 8, 12) === "WEBP") {
    return { kind: "image", mimeType: "image/webp" };
  }
  const certain = CERTAIN.find((signature) => matches(head, signature));
  if (certain) return { kind: "binary", type: certain.type };
  if (head.length > 0 && head.every((byte) => byte === 0)) return { kind: "binary", type: "zero bytes only" };
  if (encodingOfMark(head) || wideEncoding(head) || !isBinary(head)) return { kind: "text" };
  const likely = WHEN_BINARY.find((signature) => matches(head, signature));
  return { kind: "binary", type: likely?.type ?? "unknown binary data" };
}

function matches(head: Buffer, { magic, at = 0 }: Signature): boolean {
  return head.toString("latin1", at, at + magic.length) === magic;
}

/**
 * True for bytes that are not text in any 8-bit encoding: zero bytes other than long runs (a log on a sparse or
 * preallocated file has those), or too many control characters.
 */
export function isBinary(bytes: Buffer): boolean {
  let controls = 0;
  let text = 0;
  for (let index = 0; index < bytes.length; ) {
    const end = endOfZeros(bytes, index);
    if (end > index) {
      const isHole = end - index >= MIN_HOLE || (end === bytes.length && text > 0);
      if (!isHole) return true;
      index = end;
      continue;
    }
    if (isStrangeControl(bytes[index] ?? 0)) controls++;
    text++;
    index++;
  }
  return controls > text * MAX_CONTROL_SHARE;
}

function endOfZeros(bytes: Buffer, start: number): number {
  let end = start;
  while (bytes[end] === 0) end++;
  return end;
}
