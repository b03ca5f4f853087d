import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { buildSystemPrompt, type Environment, expandTilde, kindOf } from "@tau/host";
import type { CliArgs } from "./args.ts";
import type { Resources } from "./project-resources.ts";
import { UsageError } from "./usage-error.ts";

export interface PromptQuestion {
  readonly args: CliArgs;
  readonly environment: Environment;
  readonly resources: Resources;
  /** Working directory as the model is to know it. */
  readonly cwd: string;
  readonly toolNames: readonly string[];
}

/** The sections of the system prompt, with what --system-prompt and --append-system-prompt say. */
export function makeSystemPrompt({ args, environment, resources, cwd, toolNames }: PromptQuestion) {
  const custom = args.texts["system-prompt"]?.[0];
  const append = args.texts["append-system-prompt"] ?? [];
  return buildSystemPrompt({
    tools: toolNames,
    cwd,
    platform: process.platform,
    contextFiles: resources.contextFiles.files,
    skills: resources.skills,
    ...(custom !== undefined && { custom: textOrFile(custom, environment) }),
    append: append.map((each) => textOrFile(each, environment)),
  });
}

/** The value of an option that is a text, or the path of a file that holds it. */
function textOrFile(value: string, { cwd, userHome }: Environment): string {
  // A text of several lines is no path; asking the disk about it could fail by its length.
  if (value.includes("\n") || value.length > 1024) return value;
  const path = resolve(cwd, expandTilde(value, userHome));
  if (kindOf(path) !== "file") return value;
  try {
    return readFileSync(path, "utf8").replace(/^\uFEFF/, "");
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
