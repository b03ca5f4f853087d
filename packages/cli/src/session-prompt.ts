import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { buildSystemPrompt, type Environment, expandTilde, fileContent, kindOf } from "@tau/host";
import type { CliArgs } from "./arguments/args.ts";
import { UsageError } from "./arguments/usage-error.ts";
import type { Resources } from "./project-resources.ts";

export interface PromptQuestion {
  readonly args: CliArgs;
  readonly environment: Environment;
  readonly resources: Resources;
  /** Working directory as the model is to know it. */
  readonly cwd: string;
  readonly toolNames: readonly string[];
}

/**
 * The sections of the system prompt, with what --system-prompt and --append-system-prompt say. Throws UsageError for a
 * file that is not there or is no text.
 */
export async function makeSystemPrompt({ args, environment, resources, cwd, toolNames }: PromptQuestion) {
  const custom = args.texts["system-prompt"]?.[0];
  const append = args.texts["append-system-prompt"] ?? [];
  const text = (option: string, value: string) => textOrFile({ option, value, environment });
  return buildSystemPrompt({
    tools: toolNames,
    cwd,
    platform: process.platform,
    contextFiles: resources.contextFiles.files,
    skills: resources.skills,
    ...(custom !== undefined && { custom: await text("--system-prompt", custom) }),
    append: await Promise.all(append.map((each) => text("--append-system-prompt", each))),
  });
}

interface OptionValue {
  readonly option: string;
  readonly value: string;
  readonly environment: Environment;
}

/** The value of an option that is a text, or the path of a file that holds it. */
async function textOrFile({ option, value, environment }: OptionValue): Promise<string> {
  // A text of several lines is no path; asking the disk about it could fail by its length.
  if (value.includes("\n") || value.length > 1024) return value;
  const path = resolve(environment.cwd, expandTilde(value, environment.userHome));
  const kind = kindOf(path);
  if (kind === "file") return readText(option, path);
  if (!namesFile(value)) return value;
  const what = kind === undefined ? "there is no such file" : "this is no file";
  throw new UsageError(`${option} ${value}: ${what} (looked for ${path}); correct the path, or give the text itself`);
}

/** Whether a value can only be meant as a path: it begins like one or ends like a text file, and is one word. */
function namesFile(value: string): boolean {
  const beginsLikePath = /^(\.{1,2}|~)?[/\\]/.test(value);
  const endsLikeFile = /\.(md|markdown|txt)$/i.test(value);
  return /\s/.test(value) ? beginsLikePath && endsLikeFile : beginsLikePath || endsLikeFile;
}

async function readText(option: string, path: string): Promise<string> {
  const content = await fileContent(readBytes(option, path));
  if (content.kind === "text") return content.text;
  const what = content.kind === "image" ? content.mimeType : content.type;
  throw new UsageError(`${option} ${path}: a prompt must be text, and this file is not (${what})`);
}

function readBytes(option: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new UsageError(`${option}: cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
