import { closeSync, openSync, readSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { createBuiltinTools, expandTilde, type ToolEnvironment } from "@tau/host";
import type { ImageContent } from "@tau/llm";
import { UsageError } from "../usage-error.ts";

/** What `@file` arguments add to the first prompt. */
export interface FileArguments {
  /** Each file as `<file name="…">…</file>`, an image with a line about it; empty without files. */
  readonly text: string;
  readonly images: readonly ImageContent[];
}

/** The part of a text file that goes into the prompt; the agent can read the rest. */
const MAX_TEXT_BYTES = 256 * 1024;

/** Beginnings of the image files that models take: PNG, JPEG, GIF, WebP. */
const IMAGE_HEAD = /^(?:\x89PNG\r\n\x1a\n|\xff\xd8\xff|GIF8[79]a|RIFF[\s\S]{4}WEBP)/;

/** Reads the `@file` arguments. Throws UsageError (exit 2) for one that is missing or cannot be shown to a model. */
export async function readFileArguments(
  paths: readonly string[],
  tools: ToolEnvironment,
  base: Base,
): Promise<FileArguments> {
  const texts: string[] = [];
  const images: ImageContent[] = [];
  for (const given of paths) {
    const path = resolve(base.cwd, expandTilde(given, base.userHome));
    const { bytes, size } = readHead(given, path);
    const image = IMAGE_HEAD.test(bytes.toString("latin1", 0, 16)) ? await readImage(given, path, tools) : undefined;
    if (image) images.push(image.content);
    texts.push(`<file name="${path}">\n${image ? image.caption : textOf(given, bytes, size)}\n</file>`);
  }
  return { text: texts.join("\n"), images };
}

interface Base {
  readonly cwd: string;
  readonly userHome: string;
}

/** An image as the read tool shows it: decoded once to see that it is whole, and made smaller when it is too large. */
async function readImage(
  given: string,
  path: string,
  tools: ToolEnvironment,
): Promise<{ content: ImageContent; caption: string }> {
  const read = createBuiltinTools(tools).find(({ name }) => name === "read");
  const result = await read?.execute("", { path }, new AbortController().signal, () => undefined);
  const content = result?.content.find((block) => block.type === "image");
  const text = result?.content.find((block) => block.type === "text");
  const caption = text?.type === "text" ? text.text : "";
  if (content?.type !== "image") throw new UsageError(`@${given}: ${caption || "the image cannot be read"}`);
  return { content, caption };
}

function readHead(given: string, path: string): { bytes: Buffer; size: number } {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) throw new UsageError(`@${given}: there is no such file (looked for ${path})`);
  if (!stat.isFile()) throw new UsageError(`@${given}: not a file; name a text file or an image`);
  try {
    const fd = openSync(path, "r");
    try {
      const buffer = Buffer.alloc(Math.min(stat.size, MAX_TEXT_BYTES));
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
  if (encoding === "utf-8" && bytes.includes(0)) {
    throw new UsageError(`@${given}: a binary file of ${size} bytes, neither text nor an image`);
  }
  // stream: true leaves out a character that the end of the part cuts in two.
  const text = new TextDecoder(encoding).decode(bytes, { stream: size > bytes.length }).replace(/\n$/, "");
  return size > bytes.length ? `${text}\n[Cut here: ${size} bytes in all. Read the file for the rest.]` : text;
}
