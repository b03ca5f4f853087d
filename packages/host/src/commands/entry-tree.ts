import type { TreeNode } from "../session/command.ts";
import type { SessionStore } from "../store/session-store.ts";

/** The entries of a session as a tree. An entry whose parent is not there stands at a root. */
export function entryTree(store: SessionStore): TreeNode[] {
  const entries = store.entries();
  const labels = store.labels();
  const labelled = new Map<string, string>();
  for (const entry of entries) if (entry.type === "label") labelled.set(entry.targetId, entry.timestamp);
  const nodes = new Map<string, TreeNode>();
  for (const entry of entries) {
    const label = labels.get(entry.id);
    const mark = label === undefined ? {} : { label, labelTimestamp: labelled.get(entry.id) ?? "" };
    nodes.set(entry.id, { entry, children: [], ...mark });
  }
  const roots: TreeNode[] = [];
  for (const node of nodes.values()) {
    const parent = node.entry.parentId === null ? undefined : nodes.get(node.entry.parentId);
    (parent?.children ?? roots).push(node);
  }
  return roots;
}
