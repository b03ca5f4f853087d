import type { AgentMessage } from "@tau/agent";
import type { SystemMessage } from "@tau/llm";
import type { CustomEntry, Entry, EntryDraft, SessionHeader } from "./entries.ts";

/** What the model sees of a branch, with the entry each message came from. */
export interface Projection {
  /** Prompt and tools at the head: the replayed system messages before the first other message, or the compaction's checkpoint. */
  system?: SystemMessage;
  /** Messages after the head, in order, as they go to the agent. */
  messages: AgentMessage[];
  /** `entryIds[i]` is the entry behind `messages[i]`; empty for a result that no entry holds. */
  entryIds: string[];
  /**
   * Entries of results that stand behind a reply that broke off. tau no longer writes them, and programs that leave
   * such a reply out would send them without their call.
   */
  strayResults: string[];
  /** The model and the level in force at the leaf. */
  model?: { provider: string; modelId: string };
  thinkingLevel?: string;
}

/** How a session's recording stands. */
export type RecordingState = { status: "ok" } | { status: "failing"; reason: string; unsaved: number };

/**
 * One session: an append-only tree of entries, in a file or only in memory. All calls are synchronous; `append`
 * returns after the bytes were handed to the kernel, so a killed process loses nothing that was shown.
 */
export interface SessionStore {
  readonly header: SessionHeader;
  /** The file; undefined for a session in memory. The file exists only after the first user or assistant message. */
  readonly path: string | undefined;
  /** The entry that the next one becomes a child of; null before the first. */
  readonly leafId: string | null;
  readonly recording: RecordingState;
  /** Problems met when the file was read, one line each. */
  readonly warnings: readonly string[];
  /** Adds a child of the leaf and moves the leaf to it. Never throws for a full or read-only disk: see `recording`. */
  append(draft: EntryDraft): Entry;
  entry(id: string): Entry | undefined;
  /** All entries in file order. */
  entries(): readonly Entry[];
  /** All entries in file order, one in memory at a time where they can be read again. */
  walk(): Iterable<Entry>;
  /** Entries from the root to `leafId` (default: the current leaf). */
  branch(leafId?: string | null): Entry[];
  projection(leafId?: string | null): Projection;
  /** Model and level at the current leaf, without the messages. */
  choice(): Pick<Projection, "model" | "thinkingLevel">;
  /** Moves the leaf, also over a restart (a `tau.leaf` record). */
  moveLeaf(id: string | null): void;
  /** Display name: the newest session_info. */
  name(): string | undefined;
  /** Labels by the entry they are on; for each the newest label entry of the whole file holds. */
  labels(): ReadonlyMap<string, string>;
  /** The newest custom entry of a type, in file order, whatever its branch. */
  newestCustom(customType: string): CustomEntry | undefined;
  /** fsync of the file. */
  sync(): void;
  /** Releases file and lock. Idempotent. */
  close(): void;
}
