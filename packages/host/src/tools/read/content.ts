import { fileKind, type ImageType, isBinary } from "../../platform/file-kind.ts";
import { decodeForReading } from "../../platform/text-codec.ts";
import { detectNarrow, encodingOfMark, wideEncoding, withoutTornTail } from "../../platform/text-encoding.ts";

/** What bytes turned out to be (R057); names and suffixes are not asked. */
export type FileContent =
  | {
      readonly kind: "text";
      /** Without a byte order mark; bytes that are not a character of the encoding are U+FFFD. */
      readonly text: string;
    }
  | { readonly kind: "image"; readonly mimeType: ImageType }
  | {
      readonly kind: "binary";
      /** In words, such as "PDF document". */
      readonly type: string;
    };

/** As much as the tool `read` judges a file by. */
const HEAD_BYTES = 64 * 1024;

/** The work of `fileContent`. */
export async function contentOf(bytes: Buffer, cut: boolean): Promise<FileContent> {
  const head = bytes.subarray(0, HEAD_BYTES);
  const kind = fileKind(head);
  if (kind.kind !== "text") return kind;
  const known = encodingOfMark(head) ?? wideEncoding(head);
  if (!known && isBinary(bytes)) return { kind: "binary", type: "unknown binary data" };
  const encoding = known ?? (await detectNarrow(bytes));
  const body = bytes.subarray(encoding.bomLength);
  // What a cut has left of a character at the end says nothing.
  const end = cut && encoding.name === "utf-8" ? withoutTornTail(body).length : body.length;
  return { kind: "text", text: await decodeForReading(encoding, body.subarray(0, end)) };
}
