import type { AgentMessage } from "@tau/agent";
import type { TextContent } from "@tau/llm";
import type { ContextEditEntry } from "./entries.ts";
import type { EntryTree } from "./entry-tree.ts";

/** For each edited entry of a path the number of the edit that holds: the last one (law F6). */
export function editsOf(tree: EntryTree, leaf: number): Map<string, number> {
  const edits = new Map<string, number>();
  for (let link = tree.stateAt(leaf).edits; link; link = link.previous) {
    const edit = tree.entryAt(link.entry);
    if (edit?.type === "context_edit" && !edits.has(edit.targetId)) edits.set(edit.targetId, link.entry);
  }
  return edits;
}

/** A message as an edit shows it: with other content, or not at all. Only content changes, never role and metadata. */
export function editedMessage(
  message: AgentMessage,
  replacement: ContextEditEntry["replacement"],
): AgentMessage | undefined {
  if (replacement === null) return undefined;
  switch (message.role) {
    case "user":
    case "custom":
      return { ...message, content: replacement };
    case "toolResult":
      return { ...message, content: typeof replacement === "string" ? [textBlock(replacement)] : replacement };
    case "assistant": {
      // An assistant message holds no images: the model cannot have said one.
      const blocks = typeof replacement === "string" ? [textBlock(replacement)] : replacement;
      return { ...message, content: blocks.filter((block) => block.type === "text") };
    }
    default:
      return message;
  }
}

function textBlock(text: string): TextContent {
  return { type: "text", text };
}
