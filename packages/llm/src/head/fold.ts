import type { SystemMessage } from "../protocol/message.ts";
import type { Tool } from "../protocol/tool.ts";

/**
 * What the model was told apart from the conversation: the system messages of a transcript, replayed in order. The same
 * messages give the same head, and the same bytes, in every request and every process.
 */
export interface Head {
  /** Text that belongs to no section. */
  readonly content: string;
  /** By name, in the order in which they first appeared. */
  readonly sections: ReadonlyMap<string, string>;
  /** By name, in the order in which they were added; one that is declared again keeps its place. */
  readonly tools: ReadonlyMap<string, Tool>;
}

/** The system prompt in named parts, in the order in which they are shown. */
export type PromptSections = Readonly<Record<string, string>>;

export const EMPTY_HEAD: Head = { content: "", sections: new Map(), tools: new Map() };

/** The section that a prompt given as one string is, so that a later change can patch it. */
export const PROMPT_SECTION = "prompt";

/** A head that says this prompt and these tools. */
export function headOf(prompt: string | { readonly sections: PromptSections }, tools: readonly Tool[] = []): Head {
  const declared = new Map(tools.map((tool) => [tool.name, tool]));
  return { content: "", sections: new Map(sectionsOf(prompt)), tools: declared };
}

function sectionsOf(prompt: string | { readonly sections: PromptSections }): [string, string][] {
  if (typeof prompt !== "string") return Object.entries(prompt.sections);
  return prompt === "" ? [] : [[PROMPT_SECTION, prompt]];
}

/** The head after one more system message. */
export function foldHead(head: Head, message: SystemMessage): Head {
  return replayHead(head, [message]);
}

/** The head after all system messages of a transcript; linear in them. Other messages say nothing. */
export function replayHead(head: Head, messages: readonly { readonly role: string }[]): Head {
  const texts = [head.content];
  const sections = new Map(head.sections);
  const tools = new Map(head.tools);
  for (const message of messages) {
    if (!isSystem(message)) continue;
    texts.push(contentText(message));
    for (const [name, text] of Object.entries(message.sections ?? {})) {
      if (text === null) sections.delete(name);
      else sections.set(name, text);
    }
    for (const { name } of message.toolsRemoved ?? []) tools.delete(name);
    for (const tool of message.toolsAdded ?? []) tools.set(tool.name, tool);
  }
  return { content: joined(texts), sections, tools };
}

/** The text that goes to the model as its system prompt; empty when there is none. */
export function promptText({ content, sections }: Pick<Head, "content" | "sections">): string {
  return joined([content, ...sections.values()]);
}

/** The text of a system message outside of its sections. */
export function contentText({ content }: SystemMessage): string {
  return typeof content === "string" ? content : content.map((block) => block.text).join("\n");
}

const isSystem = (message: { readonly role: string }): message is SystemMessage => message.role === "system";

const joined = (parts: readonly string[]) => parts.filter((part) => part !== "").join("\n\n");
