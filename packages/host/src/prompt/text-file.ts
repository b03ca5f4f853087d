import { fileKind, isBinary } from "../platform/file-kind.ts";
import { type FileHead, isUnreadable, readHead, type Unreadable } from "../platform/read-head.ts";
import { decodeAtOnce } from "../platform/text-at-once.ts";
import { encodingOfMark, wideEncoding } from "../platform/text-encoding.ts";

/** The head of a text file. `bytes` is the size on disk. */
export interface TextHead {
  readonly text: string;
  readonly bytes: number;
  readonly cut: boolean;
}

/**
 * Reads at most `maxBytes` of a text file, judged and decoded by the rules of the tool `read`, without its byte order
 * mark and with `\n` as the end of lines. Undefined when there is no such file. An encoding that can only be guessed at
 * is refused, with what to do.
 */
export function readTextHead(path: string, maxBytes: number): TextHead | Unreadable | undefined {
  const head = readHead(path, { maxBytes });
  return head === undefined || isUnreadable(head) ? head : textOf(head);
}

function textOf({ bytes, size, cut }: FileHead): TextHead | Unreadable {
  const { kind } = fileKind(bytes);
  if (kind === "image") return { reason: "it is an image, not a text" };
  const known = encodingOfMark(bytes) ?? wideEncoding(bytes);
  if (kind === "binary" || (!known && isBinary(bytes))) return { reason: "it is not a text" };
  const text = decodeAtOnce(bytes, { known, cut });
  if (text === undefined) return { reason: "its encoding is not known; save it as UTF-8" };
  return { text: text.replace(/\r\n/g, "\n"), bytes: size, cut };
}
