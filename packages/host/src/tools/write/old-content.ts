import { isUtf8 } from "node:buffer";
import type { Stats } from "node:fs";
import { openRegularFile } from "../../platform/open-file.ts";
import { codecFor } from "../../platform/text-codec.ts";
import { encodingOfMark, wideEncoding } from "../../platform/text-encoding.ts";
import { readAt } from "../read/lines.ts";

/** Larger old contents are not read whole: a diff of such a file helps no one. */
const MAX_WHOLE_BYTES = 1024 * 1024;

const HEAD_BYTES = 4096;

/** What was in a file before it is overwritten. */
export interface OldContent {
  /** All bytes, or only the first ones when not `whole`. */
  readonly bytes: Buffer;
  readonly whole: boolean;
}

export async function oldContent(realPath: string, stats: Stats, shown: string): Promise<OldContent> {
  const whole = stats.size <= MAX_WHOLE_BYTES;
  const { file } = await openRegularFile(realPath, shown);
  try {
    return { bytes: await readAt(file, 0, whole ? stats.size : HEAD_BYTES), whole };
  } finally {
    await file.close();
  }
}

/**
 * The bytes to write: exactly the content, as UTF-8, except that a byte order mark of the old file stays and is not
 * doubled (R047), and that a UTF-16 or UTF-32 file stays one, since the model was shown its text and not its encoding.
 */
export async function encodeLike(old: OldContent | undefined, content: string): Promise<Buffer> {
  const plain = Buffer.from(content, "utf8");
  const encoding = old && (encodingOfMark(old.bytes) ?? wideEncoding(old.bytes));
  if (!old || !encoding) return plain;
  const mark = old.bytes.subarray(0, encoding.bomLength);
  const text = mark.length > 0 && content.startsWith("\ufeff") ? content.slice(1) : content;
  const codec = await codecFor(encoding, Buffer.alloc(0));
  const encoded = codec.encode(text);
  return encoded ? Buffer.concat([mark, encoded]) : plain;
}

/** The old and the new text for a diff; `undefined` when one of them is not a UTF-8 or UTF-16 text. */
export async function comparedTexts(old: OldContent, content: string): Promise<[string, string] | undefined> {
  if (!old.whole || content.length > MAX_WHOLE_BYTES) return undefined;
  const encoding = encodingOfMark(old.bytes) ?? wideEncoding(old.bytes) ?? { name: "utf-8", bomLength: 0 };
  const bytes = old.bytes.subarray(encoding.bomLength);
  if (encoding.name === "utf-8" && (!isUtf8(bytes) || bytes.includes(0))) return undefined;
  const codec = await codecFor(encoding, bytes);
  return [codec.decode(bytes), content.replace(/^\ufeff/, "")];
}
