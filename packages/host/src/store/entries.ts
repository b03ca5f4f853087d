import type { AgentMessage } from "@tau/agent";
import type { ImageContent, SystemMessage, TextContent, Usage } from "@tau/llm";

/** First line of a session file. Format: version 3 of pi. */
export interface SessionHeader {
  type: "session";
  version: 3;
  id: string;
  /** ISO 8601. */
  timestamp: string;
  cwd: string;
  /** Path of the session that this one was forked from. */
  parentSession?: string;
}

/** What every entry has; entries form a tree by `parentId`. */
export interface EntryBase {
  id: string;
  parentId: string | null;
  /** ISO 8601. */
  timestamp: string;
}

export interface MessageEntry extends EntryBase {
  type: "message";
  message: AgentMessage;
  /** The id of a message that entered while messages were queued: it was one of them, or accepted by the same program. */
  queueId?: string;
}
export interface ModelChangeEntry extends EntryBase {
  type: "model_change";
  provider: string;
  modelId: string;
}
export interface ThinkingLevelChangeEntry extends EntryBase {
  type: "thinking_level_change";
  thinkingLevel: string;
}
/** Usage that belongs to no assistant message, e.g. of a summary. */
export interface UsageEntry extends EntryBase {
  type: "usage";
  kind: string;
  provider: string;
  model: string;
  usage: Usage;
}
export interface CompactionEntry extends EntryBase {
  type: "compaction";
  summary: string;
  firstKeptEntryId: string;
  tokensBefore: number;
  systemMessage?: SystemMessage;
  usage?: Usage;
  details?: unknown;
}
/** Changes or, with null, removes how an old entry is shown to the model on this branch. */
export interface ContextEditEntry extends EntryBase {
  type: "context_edit";
  targetId: string;
  /** In a file always `{content}` or null, as pi has it; drafts, and files of others, may have the content itself. */
  replacement: { content: EditedContent } | EditedContent | null;
}
/** Content that an edit puts in the place of the old one. */
export type EditedContent = string | (TextContent | ImageContent)[];
export interface BranchSummaryEntry extends EntryBase {
  type: "branch_summary";
  fromId: string;
  summary: string;
  usage?: Usage;
  details?: unknown;
}
/** Data outside the model's context. tau's own records have a customType `tau.*`. */
export interface CustomEntry extends EntryBase {
  type: "custom";
  customType: string;
  data?: unknown;
}
export interface CustomMessageEntry extends EntryBase {
  type: "custom_message";
  customType: string;
  content: string | (TextContent | ImageContent)[];
  display: boolean;
  details?: unknown;
  /** As with a message. */
  queueId?: string;
}
export interface LabelEntry extends EntryBase {
  type: "label";
  targetId: string;
  label?: string;
}
export interface SessionInfoEntry extends EntryBase {
  type: "session_info";
  name: string;
}

/** A line of a session file, by its `type`. */
export type Entry =
  | MessageEntry
  | ModelChangeEntry
  | ThinkingLevelChangeEntry
  | UsageEntry
  | CompactionEntry
  | ContextEditEntry
  | BranchSummaryEntry
  | CustomEntry
  | CustomMessageEntry
  | LabelEntry
  | SessionInfoEntry;

export type Draft<E> = E extends EntryBase ? Omit<E, keyof EntryBase> : never;

/** An entry before the store gave it id, parent and time. */
export type EntryDraft = Draft<Entry>;
