import type { ImageContent } from "@tau/llm";
import type { FileArguments } from "./file-arguments.ts";

export interface Prompt {
  readonly text: string;
  readonly images: readonly ImageContent[];
}

/**
 * Makes the prompts of one invocation: stdin comes first, then the files, then the first message; further messages
 * are prompts of their own, sent one after another.
 */
export function makePrompts(stdin: string | undefined, files: FileArguments, messages: readonly string[]): Prompt[] {
  const [first, ...others] = messages;
  const parts = [stdin?.replace(/(?<!\n)\n+$/, ""), files.text, first].filter(
    (part) => part !== undefined && part !== "",
  );
  const prompts: Prompt[] = others.map((text) => ({ text, images: [] }));
  if (parts.length > 0) prompts.unshift({ text: parts.join("\n\n"), images: files.images });
  return prompts;
}
