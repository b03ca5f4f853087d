export type {
  BranchSummaryEntry,
  CompactionEntry,
  ContextEditEntry,
  CustomEntry,
  CustomMessageEntry,
  Entry,
  EntryDraft,
  LabelEntry,
  MessageEntry,
  ModelChangeEntry,
  SessionHeader,
  SessionInfoEntry,
  ThinkingLevelChangeEntry,
  UsageEntry,
} from "./store/entries.ts";
export { type LockOwner, SessionFileError, type SessionFileErrorCode, SessionLockedError } from "./store/errors.ts";
export { findSession, latestSession, listSessions, type SessionLookup } from "./store/list-sessions.ts";
export {
  type CreateSessionOptions,
  createMemoryStore,
  createSessionStore,
  type NewSessionOptions,
  type OpenSessionOptions,
  openSessionStore,
} from "./store/open-session.ts";
export { sessionDirectory } from "./store/paths.ts";
export type { SessionSummary } from "./store/peek-session.ts";
export type { Projection, RecordingState, SessionStore } from "./store/session-store.ts";
