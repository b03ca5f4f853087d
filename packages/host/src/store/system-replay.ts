import type { SystemMessage, Tool } from "@tau/llm";

/**
 * System messages replayed in order into one that says the same (law B8). A single message comes back as it is.
 * Undefined for none.
 */
export function replaySystem(messages: readonly SystemMessage[]): SystemMessage | undefined {
  const [first, ...rest] = messages;
  return first && rest.reduce(foldSystem, first);
}

function foldSystem(head: SystemMessage, next: SystemMessage): SystemMessage {
  const sections = foldSections(head.sections, next.sections);
  const toolsAdded = foldTools(head.toolsAdded, next);
  return {
    role: "system",
    content: joinContent(head.content, next.content),
    ...(sections && { sections }),
    ...(toolsAdded && { toolsAdded }),
    timestamp: head.timestamp,
  };
}

function foldSections(head: SystemMessage["sections"], next: SystemMessage["sections"]): SystemMessage["sections"] {
  if (!head && !next) return undefined;
  const merged = Object.entries({ ...head, ...next });
  return Object.fromEntries(merged.filter(([, text]) => text !== null));
}

/** A tool that is declared again keeps its place, so that the order of tools is stable for the provider's cache. */
function foldTools(head: readonly Tool[] | undefined, next: SystemMessage): Tool[] | undefined {
  if (!head && !next.toolsAdded) return undefined;
  const tools = new Map((head ?? []).map((tool) => [tool.name, tool]));
  for (const { name } of next.toolsRemoved ?? []) tools.delete(name);
  for (const tool of next.toolsAdded ?? []) tools.set(tool.name, tool);
  return [...tools.values()];
}

function joinContent(head: SystemMessage["content"], next: SystemMessage["content"]): SystemMessage["content"] {
  const texts = [textOf(head), textOf(next)].filter((text) => text !== "");
  return texts.join("\n\n");
}

function textOf(content: SystemMessage["content"]): string {
  return typeof content === "string" ? content : content.map((block) => block.text).join("\n");
}
