import { contentText, headOf, promptText, replayHead } from "../../head/fold.ts";
import type { Message, SystemMessage } from "../../protocol/message.ts";
import type { Context } from "../../protocol/request.ts";
import type { Tool } from "../../protocol/tool.ts";

/** What goes to a provider apart from the conversation, and the conversation itself. */
export interface RequestHead {
  /** Empty when there is none. */
  systemPrompt: string;
  tools: readonly Tool[];
  /** Without system messages, except those that the API takes in the middle (`midConversation`). */
  messages: readonly Message[];
}

const NO_TOOLS: readonly Tool[] = [];

/**
 * The head of a request: prompt and tools of the context after its system messages (law B8).
 *
 * @param midConversation the API takes system messages in the middle: those after the first other message stay there
 *   and only their tools enter the head, since every API declares its tools there
 */
export function requestHead(context: Context, { midConversation = false } = {}): RequestHead {
  const { messages, systemPrompt = "", tools = NO_TOOLS } = context;
  if (!messages.some(isSystem)) return { systemPrompt, tools, messages };
  const start = headOf(systemPrompt, tools);
  const current = replayHead(start, messages);
  const conversation = messages.findIndex((message) => !isSystem(message));
  const stays = midConversation && conversation >= 0;
  const told = stays ? replayHead(start, messages.slice(0, conversation)) : current;
  const kept = stays ? messages.slice(conversation) : messages.filter((message) => !isSystem(message));
  return { systemPrompt: promptText(told), tools: [...current.tools.values()], messages: kept };
}

const isSystem = (message: Message): boolean => message.role === "system";

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
