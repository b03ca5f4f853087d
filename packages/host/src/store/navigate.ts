import type { AgentMessage } from "@tau/agent";
import type { BranchSummaryEntry, Entry } from "./entries.ts";
import type { SessionStore } from "./session-store.ts";

export interface Navigation {
  /** The leaf now. */
  leafId: string | null;
  /** Text of the user message that was chosen: to be edited and sent again. */
  editorText?: string;
}

/** A summary of the branch that is left, put at the head of the new one. */
export type LeftBranch = Pick<BranchSummaryEntry, "summary" | "usage" | "details">;

/**
 * Goes to another point of the tree, also over a restart. A user message is gone back behind, so that it can be said
 * anew; from any other entry the session continues after it. Model and thinking level are those of that point (R111).
 */
export function navigate(store: SessionStore, entryId: string, left?: LeftBranch): Navigation {
  const { leafId, ...editorText } = destination(store, entryId);
  const fromId = store.leafId;
  store.moveLeaf(leafId);
  if (left && fromId !== null) store.append({ type: "branch_summary", fromId, ...left });
  return { leafId: store.leafId, ...editorText };
}

/** Where `navigate` leads, without going there. */
export function destination(store: SessionStore, entryId: string): Navigation {
  const entry = store.entry(entryId);
  if (!entry) throw new Error(`no entry ${entryId} in session ${store.header.id}`);
  const text = userText(entry);
  return text === undefined ? { leafId: entry.id } : { leafId: entry.parentId, editorText: text };
}

/** What the model sees at the leaf and no longer after a move: what was said since both ways part, oldest first. */
export function leftBehind(store: SessionStore, leafId: string | null): AgentMessage[] {
  const { messages, entryIds } = store.projection();
  const stays = new Set(store.branch(leafId).map(({ id }) => id));
  return messages.filter(({ role }, index) => role !== "system" && !stays.has(entryIds[index] ?? ""));
}

/** The text of a user message; undefined for other entries. */
export function userText(entry: Entry): string | undefined {
  if (entry.type !== "message" || entry.message.role !== "user") return undefined;
  const { content } = entry.message;
  if (typeof content === "string") return content;
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

/** Gives the session a display name; an empty one takes it away. */
export function renameSession(store: SessionStore, name: string): void {
  store.append({ type: "session_info", name: name.trim().replace(/\s+/g, " ") });
}

/** Marks an entry, or with no label takes its mark away. */
export function labelEntry(store: SessionStore, targetId: string, label?: string): void {
  if (!store.entry(targetId)) throw new Error(`no entry ${targetId} in session ${store.header.id}`);
  store.append(label ? { type: "label", targetId, label } : { type: "label", targetId });
}
