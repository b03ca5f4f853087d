import { resolve } from "node:path";
import { type Environment, expandTilde } from "../platform/environment.ts";
import { kindOf } from "../platform/home.ts";
import { isUnreadable, readHead } from "../platform/read-head.ts";
import { type AdvisedTool, buildSystemPrompt } from "../prompt/system-prompt.ts";
import { configError } from "../settings/config-error.ts";
import { fileContent } from "../tools/files/file-content.ts";
import type { Foundation } from "./configuration.ts";
import type { ContextRequest } from "./input.ts";
import type { Resources } from "./resources.ts";

/** A prompt as long as this fits into no model. */
const MAX_BYTES = 8 * 1024 * 1024;

export interface PromptQuestion {
  readonly request: ContextRequest;
  readonly foundation: Pick<Foundation, "paths" | "projectPaths" | "trusted">;
  readonly environment: Environment;
  readonly resources: Resources;
  /** Working directory as the model is to know it. */
  readonly cwd: string;
  readonly tools: readonly AdvisedTool[];
}

/**
 * The sections of the system prompt, with what is asked for in place of tau's words and behind them: by an option, else by
 * SYSTEM.md and APPEND_SYSTEM.md of a trusted project, else of the home. Throws ConfigError for a file that does not exist
 * or is not text.
 */
export async function makeSystemPrompt(question: PromptQuestion) {
  const { request, environment, resources, cwd, tools } = question;
  const custom = request.systemPrompt ?? promptFile(question, "systemPrompt");
  const given = request.append ?? [];
  const appended = given.length > 0 ? undefined : promptFile(question, "appendPrompt");
  const append = appended === undefined ? given : [appended];
  const text = (option: string, value: string) => textOrFile({ option, value, environment });
  return buildSystemPrompt({
    tools,
    cwd,
    platform: process.platform,
    contextFiles: resources.contextFiles.files,
    skills: resources.skills,
    ...(custom !== undefined && { custom: await text("--system-prompt", custom) }),
    append: await Promise.all(append.map((each) => text("--append-system-prompt", each))),
  });
}

function promptFile({ request, foundation }: PromptQuestion, which: "systemPrompt" | "appendPrompt") {
  if (request.promptFiles === false) return undefined;
  const { paths, projectPaths, trusted } = foundation;
  return [...(trusted ? [projectPaths[which]] : []), paths[which]].find((path) => kindOf(path) === "file");
}

interface OptionValue {
  readonly option: string;
  readonly value: string;
  readonly environment: Environment;
}

/** The value of an option that is a text, or the path of a file that holds it. */
async function textOrFile({ option, value, environment }: OptionValue): Promise<string> {
  // A text of several lines is not a path; asking the disk about it could fail by its length.
  if (value.includes("\n") || value.length > 1024) return value;
  const path = resolve(environment.cwd, expandTilde(value, environment.userHome));
  const kind = kindOf(path);
  // A pipe is what a shell makes of `<(command)`.
  if (kind === "file" || (kind === "other" && namesFile(value))) return readText(option, path);
  if (!namesFile(value)) return value;
  const found = kind === undefined ? "nothing" : "other";
  throw configError("prompt_file_missing", { option, given: value, path, found });
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
  const type = content.kind === "image" ? content.mimeType : content.type;
  throw configError("prompt_file_not_text", { option, path, type });
}

function readBytes(option: string, path: string): Buffer {
  const head = readHead(path, { maxBytes: MAX_BYTES, streams: true });
  if (head === undefined) throw configError("prompt_file_unreadable", { option, path, reason: "it is gone" });
  if (isUnreadable(head)) throw configError("prompt_file_unreadable", { option, path, reason: head.reason });
  if (!head.cut) return head.bytes;
  const reason = `it has more than ${MAX_BYTES / 1024 / 1024} MB, which is more than a prompt may have`;
  throw configError("prompt_file_unreadable", { option, path, reason });
}
