import type { Message, SystemMessage } from "../protocol/message.ts";
import type { Context } from "../protocol/request.ts";
import type { Tool } from "../protocol/tool.ts";

/** What goes to a provider apart from the conversation, and the conversation itself. */
export interface RequestHead {
  /** Empty when there is none. */
  systemPrompt: string;
  tools: readonly Tool[];
  /** Without system messages, except those that the API takes in the middle (`midConversation`). */
  messages: readonly Message[];
}

/** The section that a prompt given as one string is. */
const PROMPT = "prompt";
const NO_TOOLS: readonly Tool[] = [];

/**
 * Replays the system messages of a context (law B8): text outside of sections first, then the sections in the order
 * of their first appearance, joined by blank lines; tools in the order in which they were added, a changed one in
 * its old place. The same messages give the same bytes in every request and every process.
 *
 * @param midConversation the API takes system messages in the middle: those after the first other message stay there
 *   and only their tools enter the head, since every API declares its tools there
 */
export function replayHead(context: Context, { midConversation = false } = {}): RequestHead {
  const { messages, systemPrompt = "", tools = NO_TOOLS } = context;
  if (!messages.some((message) => message.role === "system")) return { systemPrompt, tools, messages };
  const told = { texts: [] as string[], sections: new Map<string, string>() };
  if (systemPrompt !== "") told.sections.set(PROMPT, systemPrompt);
  const declared = new Map(tools.map((tool) => [tool.name, tool]));
  const kept: Message[] = [];
  for (const message of messages) {
    if (message.role !== "system") {
      kept.push(message);
      continue;
    }
    for (const { name } of message.toolsRemoved ?? []) declared.delete(name);
    for (const tool of message.toolsAdded ?? []) declared.set(tool.name, tool);
    if (midConversation && kept.length > 0) kept.push(message);
    else tell(told, message);
  }
  const parts = [...told.texts, ...told.sections.values()].filter((part) => part !== "");
  return { systemPrompt: parts.join("\n\n"), tools: [...declared.values()], messages: kept };
}

function tell(told: { texts: string[]; sections: Map<string, string> }, message: SystemMessage): void {
  told.texts.push(contentText(message));
  for (const [name, section] of Object.entries(message.sections ?? {})) {
    if (section === null) told.sections.delete(name);
    else told.sections.set(name, section);
  }
}

/**
 * A system message in the middle of a conversation, in words: its text, its changed sections, its tools. Empty when
 * there is nothing to say.
 */
export function systemChangeText(message: SystemMessage): string {
  const sections = Object.entries(message.sections ?? {}).map(([name, section]) =>
    section === null
      ? `The section "${name}" of the system prompt no longer applies.`
      : `The section "${name}" of the system prompt is now:\n${section}`,
  );
  const removed = listed("These tools are gone", message.toolsRemoved);
  const added = listed("These tools are new or changed", message.toolsAdded);
  return [contentText(message), ...sections, removed, added].filter((part) => part !== "").join("\n\n");
}

function listed(what: string, tools: readonly { name: string }[] = []): string {
  return tools.length === 0 ? "" : `${what}: ${tools.map(({ name }) => name).join(", ")}.`;
}

function contentText({ content }: SystemMessage): string {
  return typeof content === "string" ? content : content.map((block) => block.text).join("\n");
}
