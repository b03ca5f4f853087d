import type { Stats } from "node:fs";
import { FileProblem } from "../../platform/file-problem.ts";
import { openRegularFile } from "../../platform/open-file.ts";
import { codecFor, type TextCodec } from "../../platform/text-codec.ts";
import { detectEncoding } from "../../platform/text-encoding.ts";
import { byteCount } from "../files/byte-count.ts";
import type { Replacement } from "./replacement.ts";

/** A string of V8 ends at half a gigabyte; a file of that size wants other tools. */
const MAX_EDIT_BYTES = 256 * 1024 * 1024;

/** A file to be edited: its bytes, and its text so that each piece of it can be traced to its bytes. */
export interface TextFile {
  readonly bytes: Buffer;
  /** Bytes of the byte order mark, which `text` has not. */
  readonly markLength: number;
  readonly codec: TextCodec;
  readonly text: string;
  readonly stats: Stats;
}

/** Reads a file whole. Throws a `FileProblem` for what is not a regular file or too large. */
export async function openTextFile(realPath: string, shown: string): Promise<TextFile> {
  const { file, stats } = await openRegularFile(realPath, shown);
  try {
    if (stats.size > MAX_EDIT_BYTES) {
      throw new FileProblem(
        "TOO_LARGE",
        `${shown} has ${byteCount(stats.size)}: too large for edit. Use bash (sed, perl).`,
      );
    }
    const bytes = await file.readFile();
    const encoding = await detectEncoding(bytes);
    const content = bytes.subarray(encoding.bomLength);
    const codec = await codecFor(encoding, content);
    return { bytes, markLength: encoding.bomLength, codec, text: codec.decode(content), stats };
  } finally {
    await file.close();
  }
}

/**
 * The new content as pieces: slices of the old bytes, untouched, and the encoded replacements, which must be in order
 * and apart. Throws a `FileProblem` for a character that the encoding of the file cannot say.
 */
export function spliceBytes(file: TextFile, replacements: readonly Replacement[]): Buffer[] {
  const { bytes, codec, text } = file;
  const pieces: Buffer[] = [];
  let textAt = 0;
  let byteAt = file.markLength;
  let kept = 0;
  const advance = (to: number) => {
    byteAt += codec.byteLength(text.slice(textAt, to));
    textAt = to;
  };
  for (const { start, end, text: newText } of replacements) {
    advance(start);
    pieces.push(bytes.subarray(kept, byteAt), encodePiece(codec, newText));
    advance(end);
    kept = byteAt;
  }
  pieces.push(bytes.subarray(kept));
  return pieces;
}

function encodePiece(codec: TextCodec, text: string): Buffer {
  const encoded = codec.encode(text);
  if (encoded) return encoded;
  const foreign = [...new Set(text)].filter((character) => !codec.encode(character)).slice(0, 10);
  throw new FileProblem(
    "NOT_ENCODABLE",
    `The file is encoded as ${codec.name}, which has no ${foreign.map((found) => JSON.stringify(found)).join(", ")}. ` +
      "Nothing was changed. Use other characters, or convert the file with bash (iconv) first.",
  );
}
