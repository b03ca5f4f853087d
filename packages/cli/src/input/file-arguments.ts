import { closeSync, openSync, readSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { expandTilde } from "@tau/host";
import type { ImageContent } from "@tau/llm";
import { UsageError } from "../usage-error.ts";

/** What `@file` arguments add to the first prompt. */
export interface FileArguments {
  /** Each text file as `<file name="…">…</file>`; empty without text files. */
  readonly text: string;
  readonly images: readonly ImageContent[];
}

/** The part of a text file that goes into the prompt; the agent can read the rest. */
const MAX_TEXT_BYTES = 256 * 1024;
/** Providers take about 5 MB of base64 an image. */
const MAX_IMAGE_BYTES = 3_700_000;

const IMAGE_TYPES: readonly { mimeType: string; matches(head: Buffer): boolean }[] = [
  { mimeType: "image/png", matches: (head) => head.subarray(0, 8).equals(Buffer.from("89504e470d0a1a0a", "hex")) },
  { mimeType: "image/jpeg", matches: (head) => head.subarray(0, 3).equals(Buffer.from("ffd8ff", "hex")) },
  { mimeType: "image/gif", matches: (head) => /^GIF8[79]a/.test(head.toString("latin1", 0, 6)) },
  { mimeType: "image/webp", matches: (head) => /^RIFF[\s\S]{4}WEBP/.test(head.toString("latin1", 0, 12)) },
];

/** Reads the `@file` arguments. Throws UsageError (exit 2) for one that is missing or cannot be shown to a model. */
export function readFileArguments(paths: readonly string[], base: { cwd: string; userHome: string }): FileArguments {
  const texts: string[] = [];
  const images: ImageContent[] = [];
  for (const given of paths) {
    const path = resolve(base.cwd, expandTilde(given, base.userHome));
    const { bytes, size } = readHead(given, path);
    const image = IMAGE_TYPES.find(({ matches }) => matches(bytes));
    if (image) {
      if (size > MAX_IMAGE_BYTES)
        throw new UsageError(`@${given}: the image has ${size} bytes; make it smaller than ${MAX_IMAGE_BYTES}`);
      images.push({ type: "image", data: bytes.toString("base64"), mimeType: image.mimeType });
      texts.push(`<file name="${path}">(attached image)</file>`);
    } else {
      texts.push(`<file name="${path}">\n${textOf(given, bytes, size)}\n</file>`);
    }
  }
  return { text: texts.join("\n"), images };
}

function readHead(given: string, path: string): { bytes: Buffer; size: number } {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) throw new UsageError(`@${given}: there is no such file (looked for ${path})`);
  if (!stat.isFile()) throw new UsageError(`@${given}: not a file; name a text file or an image`);
  try {
    const fd = openSync(path, "r");
    try {
      const buffer = Buffer.alloc(Math.min(stat.size, Math.max(MAX_TEXT_BYTES, MAX_IMAGE_BYTES)));
      return { bytes: buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, 0)), size: stat.size };
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    throw new UsageError(`@${given}: cannot be read (${error instanceof Error ? error.message : String(error)})`);
  }
}

function textOf(given: string, bytes: Buffer, size: number): string {
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : "utf-8";
  const shown = bytes.subarray(0, MAX_TEXT_BYTES);
  if (encoding === "utf-8" && shown.includes(0)) {
    throw new UsageError(`@${given}: a binary file of ${size} bytes, neither text nor an image`);
  }
  const text = new TextDecoder(encoding).decode(shown, { stream: size > shown.length });
  return size > shown.length ? `${text}\n[Cut here: ${size} bytes in all. Read the file for the rest.]` : text;
}
