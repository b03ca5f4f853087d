export type { AgentTool, AgentToolResult } from "@tau/agent";
export { createAgentSession } from "./assembly/create-agent-session.ts";
export type { CreateAgentSessionOptions } from "./assembly/sdk-options.ts";
export { createCompactor } from "./compaction/create-compactor.ts";
export { ExportError } from "./export/export-error.ts";
export { type ExportRequest, type ExportResult, exportSession } from "./export/export-session.ts";
export { exportHtml } from "./export/html/page.ts";
export { exportMarkdown } from "./export/markdown/document.ts";
export { HookBus } from "./hooks/hook-bus.ts";
export { findContextFiles } from "./prompt/context-files.ts";
export { findSkills } from "./prompt/skills.ts";
export { buildSystemPrompt } from "./prompt/system-prompt.ts";
export { findTemplates } from "./prompt/templates.ts";
export { RpcClient, RpcError } from "./rpc/client.ts";
export { spawnRpcClient } from "./rpc/spawn-client.ts";
export { AgentSession } from "./session/agent-session.ts";
export type { Command } from "./session/command.ts";
export type { SessionSnapshot } from "./session/context/snapshot.ts";
export type { PullInput } from "./session/events/pull.ts";
export type { Phase, SessionEvent } from "./session/events/session-event.ts";
export {
  type AgentSessionOptions,
  type Budget,
  DEFAULT_SESSION_SETTINGS,
  type SessionSettings,
} from "./session/options.ts";
export type {
  PermissionAnswer,
  PermissionContext,
  PermissionDecision,
  PermissionGate,
  PermissionRequest,
} from "./session/permission/permission.ts";
export type { LimitReached, RunFailure } from "./session/run/failure.ts";
export type { RunEnding, RunOutcome } from "./session/run/outcome.ts";
export type { PromptOptions, SessionChanges } from "./session/session-core.ts";
export { SessionError } from "./session/session-error.ts";
export type { SessionState, SessionStatistics } from "./session/session-state.ts";
export { readAuthFile } from "./settings/auth-file.ts";
export { ConfigError } from "./settings/config-error.ts";
export { loadSettings } from "./settings/load-settings.ts";
export { ModelRegistry } from "./settings/model-registry.ts";
export { readModelsFiles } from "./settings/models-file.ts";
export type { Settings } from "./settings/settings.ts";
export { deleteSession } from "./store/delete-session.ts";
export type { Entry, EntryDraft, SessionHeader } from "./store/entries.ts";
export { SessionFileError, SessionLockedError } from "./store/errors.ts";
export { forkSession } from "./store/fork-session.ts";
export { findSession, latestSession, listSessions } from "./store/list-sessions.ts";
export { createMemoryStore, createSessionStore, openSessionStore } from "./store/open-session.ts";
export type { SessionSummary } from "./store/peek-session.ts";
export { searchSessions } from "./store/search-sessions.ts";
export type { SessionStore } from "./store/session-store.ts";
export type { UserCommandRunner } from "./tools/bash/user-command.ts";
export { errorResult, textResult } from "./tools/definition.ts";
export { UnknownToolError } from "./tools/registry.ts";
/** Every other type that a signature of these names, such as `types.Compactor`. */
export type * as types from "./types.ts";
