import type { Entry } from "../store/entries.ts";
import type { SessionStore } from "../store/session-store.ts";
import { RawJson } from "./outbox.ts";

/** A node whose text is being written: what is left of its children, and what closes it. */
interface Open {
  readonly children: readonly Entry[];
  next: number;
  readonly end: string;
}

/**
 * The tree of a session as JSON. A conversation is one long branch: built as objects it would be nested too deep for
 * `JSON.stringify`, so the text is written level by level without recursion.
 */
export function treeJson(store: SessionStore): RawJson {
  const entries = store.entries();
  const { roots, children } = relate(entries);
  const labels = labelJson(store, entries);
  const out: string[] = ['{"tree":['];
  const stack: Open[] = [{ children: roots, next: 0, end: "]" }];
  for (let top = stack.at(-1); top; top = stack.at(-1)) {
    const entry = top.children[top.next];
    if (!entry) {
      out.push(top.end);
      stack.pop();
      continue;
    }
    out.push(top.next > 0 ? "," : "", `{"entry":${JSON.stringify(entry)},"children":[`);
    top.next++;
    stack.push({ children: children.get(entry.id) ?? [], next: 0, end: `]${labels.get(entry.id) ?? ""}}` });
  }
  out.push(`,"leafId":${JSON.stringify(store.leafId)}}`);
  return new RawJson(out.join(""));
}

/** An entry whose parent is not there stands at a root. */
function relate(entries: readonly Entry[]): { roots: Entry[]; children: Map<string, Entry[]> } {
  const known = new Set(entries.map(({ id }) => id));
  const roots: Entry[] = [];
  const children = new Map<string, Entry[]>();
  for (const entry of entries) {
    const { parentId } = entry;
    const siblings = parentId === null ? roots : children.get(parentId);
    if (siblings) siblings.push(entry);
    else if (parentId !== null && known.has(parentId)) children.set(parentId, [entry]);
    else roots.push(entry);
  }
  return { roots, children };
}

function labelJson(store: SessionStore, entries: readonly Entry[]): Map<string, string> {
  const times = new Map<string, string>();
  for (const entry of entries) if (entry.type === "label") times.set(entry.targetId, entry.timestamp);
  const json = ([id, label]: [string, string]): [string, string] => [
    id,
    `,"label":${JSON.stringify(label)},"labelTimestamp":${JSON.stringify(times.get(id) ?? "")}`,
  ];
  return new Map([...store.labels()].map(json));
}
