import type { Entry } from "./entries.ts";
import { SessionFileError } from "./errors.ts";
import { type CreateSessionOptions, createMemoryStore, createSeededStore, openSessionStore } from "./open-session.ts";
import type { SessionStore } from "./session-store.ts";
import { LEAF_RECORD, QUEUE_RECORD } from "./tau-record-types.ts";
import type { Seed } from "./tree-store.ts";

export interface ForkOptions extends Omit<CreateSessionOptions, "parentSession" | "sessionsDir"> {
  /** Folder of all sessions; absent: the copy is kept in memory. */
  sessionsDir?: string;
  /** The session to copy from: open, or the path of its file. It is not changed. */
  from: SessionStore | string;
  /** The last entry of the copy, null for none; default: the leaf. */
  entryId?: string | null;
  /** `now`: the file is made at once, as for a clone. Default: with the first new message. */
  write?: "now" | "with-first-message";
}

/**
 * A new session that continues from a point of another one. The file names its parent and holds a copy of what the
 * model sees there: from the newest compaction's kept entries on. So any reader of the format can open it, also when
 * the parent is gone, and its size is bounded by the context window, not by the parent's history.
 *
 * @throws SessionFileError when there is no such session or entry
 */
export function forkSession({ from, entryId, write, sessionsDir, ...options }: ForkOptions): SessionStore {
  const source = typeof from === "string" ? openSessionStore(from, { readOnly: true }) : from;
  if (entryId && !source.entry(entryId)) {
    const message = `there is no entry ${entryId} in session ${source.header.id}`;
    throw new SessionFileError({ code: "no_entry", path: source.path ?? "", message });
  }
  const parentSession = source.path;
  const seeded = { ...options, ...(parentSession !== undefined && { parentSession }) };
  const seeds = copied(source, entryId);
  const store =
    sessionsDir === undefined
      ? createMemoryStore(seeded, seeds)
      : createSeededStore({ ...seeded, sessionsDir }, { seeds, write: write === "now" });
  if (source !== from) source.close();
  return store;
}

function copied(source: SessionStore, leafId: string | null | undefined): Seed[] {
  const branch = source.branch(leafId);
  const start = startOfContext(branch);
  const kept = branch.slice(start).filter(isCopied);
  const ids = new Set(kept.map((entry) => entry.id));
  const targeted = kept.filter((entry) => entry.type !== "context_edit" || ids.has(entry.targetId));
  const labels = [...source.labels()].filter(([targetId]) => ids.has(targetId));
  return [
    ...stateBefore(source, branch.slice(0, start)),
    ...targeted,
    ...labels.map(([targetId, label]): Seed => ({ type: "label", targetId, label })),
  ];
}

function startOfContext(branch: readonly Entry[]): number {
  const at = branch.findLastIndex((entry) => entry.type === "compaction");
  const compaction = branch[at];
  if (compaction?.type !== "compaction") return 0;
  const first = branch.findIndex((entry) => entry.id === compaction.firstKeptEntryId);
  return first < 0 || first > at ? at : first;
}

// Names and labels are given anew; queues and leaf moves are the parent's own.
const LEFT_OUT: ReadonlySet<string> = new Set(["session_info", "label"]);
const OWN_RECORDS: ReadonlySet<string> = new Set([QUEUE_RECORD, LEAF_RECORD]);

function isCopied(entry: Entry): boolean {
  return !LEFT_OUT.has(entry.type) && !(entry.type === "custom" && OWN_RECORDS.has(entry.customType));
}

/** What still holds of the entries that are not copied: model and level (R111), and the newest data of each extension. */
function stateBefore(source: SessionStore, before: readonly Entry[]): Seed[] {
  const last = before.at(-1);
  if (!last) return [];
  const { model, thinkingLevel } = source.projection(last.id);
  const newest = new Map<string, Entry>();
  for (const entry of before) {
    if (entry.type === "custom" && !entry.customType.startsWith("tau.")) newest.set(entry.customType, entry);
  }
  const level: Seed[] = thinkingLevel === undefined ? [] : [{ type: "thinking_level_change", thinkingLevel }];
  return [...(model ? [{ type: "model_change" as const, ...model }] : []), ...level, ...newest.values()];
}
