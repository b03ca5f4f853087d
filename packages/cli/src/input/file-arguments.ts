import { resolve } from "node:path";
import { isatty } from "node:tty";
import {
  createReadTool,
  expandTilde,
  type FileHead,
  fileContent,
  isUnreadable,
  readHead,
  type ToolEnvironment,
} from "@tau/host/program";
import type { ImageContent, Model } from "@tau/llm";
import { UsageError } from "../arguments/usage-error.ts";

/** What `@file` arguments add to the first prompt. */
export interface FileArguments {
  /** Each file as `<file name="…">…</file>`, an image with a line about it; empty without files. */
  readonly text: string;
  readonly images: readonly ImageContent[];
  /** One line each, about what of the files is not sent. */
  readonly warnings: readonly string[];
}

/** The part of a text file that goes into the prompt; the agent can read the rest. */
const MAX_TEXT_BYTES = 256 * 1024;

export interface FileReader {
  readonly tools: ToolEnvironment;
  /** The model that they are for. */
  readonly model: Model;
  readonly base: Base;
}

/** Reads the `@file` arguments. Throws UsageError (exit 2) for one that is missing or cannot be shown to a model. */
export async function readFileArguments(
  paths: readonly string[],
  { tools, model, base }: FileReader,
): Promise<FileArguments> {
  const warnings: string[] = [];
  const texts: string[] = [];
  const images: ImageContent[] = [];
  for (const given of paths) {
    const path = resolve(base.cwd, expandTilde(given, base.userHome));
    if (isPipedStdin(given, path)) continue;
    const head = headOf(given, path);
    const content = await fileContent(head.bytes, { cut: head.cut });
    if (content.kind === "binary") throw binaryFile(given, content.type, head.size);
    const image = content.kind === "image" ? await readImage(given, path, tools) : undefined;
    if (image) images.push(image.content);
    warnings.push(...notSent({ given, kind: content.kind, head, model }));
    const text = content.kind === "text" ? shownText(content.text, head) : image?.caption;
    texts.push(`<file name="${path}">\n${text}\n</file>`);
  }
  return { text: texts.join("\n"), images, warnings };
}

interface Sent {
  readonly given: string;
  readonly kind: "text" | "image";
  readonly head: FileHead;
  readonly model: Model;
}

/** What the model will not see of a file; the user would take the answer for one about all of it. */
function notSent({ given, kind, head, model }: Sent): string[] {
  const kilobytes = (bytes: number) => `${Math.ceil(bytes / 1024)} kB`;
  if (kind === "text" && head.cut) {
    const [sent, all] = [kilobytes(head.bytes.length), kilobytes(head.size)];
    return [`@${given}: only the first ${sent} of its ${all} are sent; the agent can read the rest`];
  }
  if (kind === "text" || model.input.includes("image")) return [];
  const name = `${model.provider}/${model.id}`;
  return [
    `${name} takes no images, so @${given} is not sent; choose another model, or give this one "input": ["text", "image"] in models.json`,
  ];
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
  const { execute } = createReadTool(tools);
  const result = await execute("", { path }, new AbortController().signal, () => undefined);
  const content = result.content.find((block) => block.type === "image");
  const text = result.content.find((block) => block.type === "text");
  const caption = text?.type === "text" ? text.text : "";
  if (content?.type !== "image") throw new UsageError(`@${given}: ${caption || "the image cannot be read"}`);
  return { content, caption };
}

function headOf(given: string, path: string): FileHead {
  const head = readHead(path, { maxBytes: MAX_TEXT_BYTES, streams: true });
  if (head === undefined)
    throw new UsageError(
      `@${given}: there is no such file (looked for ${path}); a prompt that begins with @ needs a space in front`,
    );
  if (!isUnreadable(head)) return head;
  throw new UsageError(`@${given} cannot be read: ${head.reason}; name a text file, an image or a pipe`);
}

/** Names of standard input, which goes into the prompt by itself. */
const STDIN_PATHS = ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

function isPipedStdin(given: string, path: string): boolean {
  if (!STDIN_PATHS.includes(path)) return false;
  if (isatty(0))
    throw new UsageError(`@${given}: standard input is a terminal; pipe something into it, or name a file`);
  return true;
}

function shownText(text: string, { size, cut }: FileHead): string {
  const shown = text.replace(/\n$/, "");
  return cut ? `${shown}\n[Cut here: ${size} bytes in all. Read the file for the rest.]` : shown;
}

function binaryFile(given: string, type: string, size: number): UsageError {
  return new UsageError(
    `@${given}: a binary file (${type}, ${size} bytes), neither text nor an image; name it without @ to let tools look at it`,
  );
}
