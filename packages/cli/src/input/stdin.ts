import { isUtf8 } from "node:buffer";
import { fstatSync, readFileSync } from "node:fs";
import { isatty } from "node:tty";
import { fileContent } from "@tau/host/program";
import { UsageError } from "../arguments/usage-error.ts";

/** What standard input is connected to. `none` stands for /dev/null, another device, or a closed descriptor. */
export type StdinKind = "terminal" | "none" | "file" | "pipe" | "socket";

/** More than this is not a prompt; the agent can read a file in parts. */
const MAX_STDIN_BYTES = 8 << 20;

/** How long a silent stdin is taken for one that has something to say, when there is a prompt already. */
const SILENCE_MS = 3_000;

export function stdinKind(): StdinKind {
  if (isatty(0)) return "terminal";
  try {
    const stat = fstatSync(0);
    if (stat.isFile()) return "file";
    if (stat.isFIFO()) return "pipe";
    return stat.isSocket() ? "socket" : "none";
  } catch {
    return "none";
  }
}

export interface StdinOptions {
  kind: StdinKind;
  /** There is a prompt already, so that stdin is not the only thing to wait for. */
  hasPrompt: boolean;
  /** Told when the wait is long, with what to do. */
  notice(text: string): void;
}

/**
 * Reads piped or redirected stdin to its end; undefined when there is none. A pipe is waited for, since a command
 * may be slow; a socket that stays silent is what a program leaves open that started us and forgot it, and with a
 * prompt at hand it is given up after 3 seconds.
 */
export async function readStdin(options: StdinOptions): Promise<string | undefined> {
  if (options.kind === "terminal" || options.kind === "none") return undefined;
  const bytes = options.kind === "file" ? readWhole() : await readToEnd(options);
  const text = await textOf(bytes);
  return text.trim() === "" ? undefined : text;
}

/** Throws UsageError for what is not text. */
async function textOf(bytes: Buffer): Promise<string> {
  // `find -print0` and the like: text with a zero byte between its parts. UTF-16 has an even number of bytes.
  if (bytes.length % 2 === 1 && bytes.includes(0) && isUtf8(bytes)) return bytes.toString("utf8");
  const content = await fileContent(bytes);
  if (content.kind === "text") return content.text;
  if (content.kind === "binary" && isUtf8(bytes)) return bytes.toString("utf8");
  const [what, as] = content.kind === "image" ? ["an image", "@file"] : [`binary data (${content.type})`, "the file"];
  throw new UsageError(`stdin is ${what}, not text; save it to a file and name ${as} in the prompt`);
}

function readWhole(): Buffer {
  if (fstatSync(0).size > MAX_STDIN_BYTES) throw tooLarge();
  return readFileSync(0);
}

function readToEnd({ kind, hasPrompt, notice }: StdinOptions): Promise<Buffer> {
  const stdin = process.stdin;
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    const finish = () => {
      clearTimeout(timer);
      stdin.removeAllListeners("data");
      // An open stdin would keep the process alive.
      stdin.destroy();
      resolve(Buffer.concat(chunks));
    };
    const timer = setTimeout(() => {
      if (size > 0 || !hasPrompt) return;
      if (kind === "pipe") return notice("waiting for stdin to end; give </dev/null if there is nothing to read");
      notice("stdin is open but silent, continuing without it; give </dev/null to skip this wait");
      finish();
    }, SILENCE_MS);
    stdin.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_STDIN_BYTES) reject(tooLarge());
    });
    stdin.on("end", finish);
    // A reset connection is an end like any other: what came is there.
    stdin.on("error", finish);
  });
}

function tooLarge(): UsageError {
  return new UsageError(`stdin is over ${MAX_STDIN_BYTES >> 20} MB; save it to a file and name the file in the prompt`);
}
