import type { AgentMessage } from "@tau/agent";
import type { ContextEditEntry, EditedContent } from "./entries.ts";
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
  const content = contentOf(replacement);
  switch (message.role) {
    case "user":
    case "custom":
      return { ...message, content };
    case "toolResult":
      return { ...message, content: blocksOf(content) };
    case "assistant": {
      // An assistant message holds no images: the model cannot have said one.
      return { ...message, content: blocksOf(content).filter((block) => block.type === "text") };
    }
    default:
      return message;
  }
}

function contentOf(replacement: Exclude<ContextEditEntry["replacement"], null>): EditedContent {
  return typeof replacement === "object" && "content" in replacement ? replacement.content : replacement;
}

function blocksOf(content: EditedContent): Exclude<EditedContent, string> {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}
