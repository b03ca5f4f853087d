export type { AgentTool, AgentToolResult } from "@tau/agent";
export { createAgentSession } from "./assembly/create-agent-session.ts";
export type { CreateAgentSessionOptions } from "./assembly/sdk-options.ts";
export type { CommandServices } from "./commands/command-row.ts";
export { createCompactor } from "./compaction/create-compactor.ts";
export { ExportError, type ExportErrorCode } from "./export/export-error.ts";
export {
  type ExportFormat,
  type ExportRequest,
  type ExportResult,
  type ExportSink,
  exportSession,
} from "./export/export-session.ts";
export { exportHtml } from "./export/html/page.ts";
export { exportMarkdown } from "./export/markdown/document.ts";
export type { ExportOptions } from "./export/source.ts";
export { childVariables } from "./platform/child-variables.ts";
export { type Environment, expandTilde, readEnvironment } from "./platform/environment.ts";
export { configPaths, kindOf, projectConfigDir, sameDirectory } from "./platform/home.ts";
export { keepText } from "./platform/kept-text.ts";
export { nearNames } from "./platform/near-names.ts";
export { type ProcessGroups, processGroups } from "./platform/process-groups.ts";
export { secretMask } from "./platform/secret-mask.ts";
export { shellProblem } from "./platform/shell-problem.ts";
export { cleanTerminalText } from "./platform/terminal-text.ts";
export { type ContextFile, ContextFileCollector, findContextFiles } from "./prompt/context-files.ts";
export { type Callable, expandPrompt } from "./prompt/expand-prompt.ts";
export { NestedContext } from "./prompt/nested-context.ts";
export { expandSkill, type FoundSkills, findSkills, type Skill } from "./prompt/skills.ts";
export { buildSystemPrompt, type SystemPrompt, type SystemPromptInput } from "./prompt/system-prompt.ts";
export { expandTemplate, findTemplates, type PromptTemplate } from "./prompt/templates.ts";
export { RpcClient, type RpcConnection, RpcError } from "./rpc/client.ts";
export { LineOutput } from "./rpc/line-output.ts";
export type { RpcOutput } from "./rpc/outbox.ts";
export type { RpcEvent, RpcResponse } from "./rpc/records.ts";
export { type RpcServerOptions, serveRpc } from "./rpc/server.ts";
export { type SpawnClientOptions, spawnRpcClient } from "./rpc/spawn-client.ts";
export { encodeLine, type WireRecord } from "./rpc/wire-event.ts";
export { WireFeed } from "./rpc/wire-feed.ts";
export { AgentSession } from "./session/agent-session.ts";
export type {
  Accepted,
  Command,
  CommandData,
  CommandFields,
  CommandType,
  SlashCommand,
  TreeNode,
} from "./session/command.ts";
export type { SessionSnapshot } from "./session/context/snapshot.ts";
export type { PullInput } from "./session/events/pull.ts";
export type { HostEvent, Phase, SessionEvent } from "./session/events/session-event.ts";
export type { AgentSessionOptions, Budget, SessionSettings } from "./session/options.ts";
export type {
  PermissionAnswer,
  PermissionContext,
  PermissionDecision,
  PermissionGate,
  PermissionRequest,
} from "./session/permission/permission.ts";
export type { FailureParams, LimitHit, LimitParams, LimitReached, RunFailure } from "./session/run/failure.ts";
export type { Denied, RunEnding, RunOutcome, RunYield } from "./session/run/outcome.ts";
export type { PromptOptions, SessionChanges } from "./session/session-core.ts";
export { SessionError, type SessionErrorCode } from "./session/session-error.ts";
export {
  type ModelInUse,
  type OpenedSession,
  type PromptCommand,
  SessionHost,
  type SessionHostOptions,
} from "./session/session-host.ts";
export type { SessionState, SessionStatistics } from "./session/session-state.ts";
export { type AuthFile, readAuthFile } from "./settings/auth-file.ts";
export { ConfigError } from "./settings/config-error.ts";
export { type LoadedSettings, loadSettings } from "./settings/load-settings.ts";
export { discoverLocalServers, LOCAL_SERVERS } from "./settings/local-servers.ts";
export { type ModelChoice, ModelRegistry } from "./settings/model-registry.ts";
export { readModelsFiles } from "./settings/models-file.ts";
export type { Settings } from "./settings/settings.ts";
export { selectTools, splitToolList } from "./settings/tool-selection.ts";
export { isProjectTrusted } from "./settings/trust.ts";
export { withCredentials } from "./settings/with-credentials.ts";
export { type CleanupOptions, cleanUpSessions, deleteSession } from "./store/delete-session.ts";
export type {
  BranchSummaryEntry,
  CompactionEntry,
  ContextEditEntry,
  CustomEntry,
  CustomMessageEntry,
  Entry,
  EntryBase,
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
export { type ForkOptions, forkSession } from "./store/fork-session.ts";
export { findSession, latestSession, listSessions, type SessionLookup } from "./store/list-sessions.ts";
export { labelEntry, type Navigation, navigate, renameSession, userText } from "./store/navigate.ts";
export {
  announcedSession,
  type CreateSessionOptions,
  createMemoryStore,
  createSessionStore,
  type NewSessionOptions,
  type OpenSessionOptions,
  openSessionStore,
} from "./store/open-session.ts";
export { sessionDirectory } from "./store/paths.ts";
export type { SessionSummary } from "./store/peek-session.ts";
export { type PersistedQueues, persistedQueues, type QueueSnapshot, recordQueues } from "./store/queue-record.ts";
export { type SearchHit, type SearchOptions, searchSessions } from "./store/search-sessions.ts";
export type { Projection, RecordingState, SessionStore } from "./store/session-store.ts";
export { type UnansweredCall, unansweredCalls } from "./store/tau-records.ts";
export { createUserCommandRunner, type UserCommandRunner } from "./tools/bash/user-command.ts";
export type { UserCommandResult } from "./tools/bash/user-command-io.ts";
export { createBuiltinTools, DEFAULT_TOOLS } from "./tools/builtin.ts";
export {
  DEFAULT_IMAGE_LIMITS,
  errorResult,
  type ImageLimits,
  type ToolContext,
  type ToolDefinition,
  type ToolEnvironment,
  type ToolFactory,
  type ToolPermission,
  type ToolSettings,
  textResult,
} from "./tools/definition.ts";
export { fileContent } from "./tools/files/file-content.ts";
export { FileReads, type SeenFile } from "./tools/files/file-reads.ts";
export type { FileContent } from "./tools/read/content.ts";
export { type ImageProblem, type PreparedImage, prepareImage } from "./tools/read/prepare-image.ts";
export { type ToolExecution, ToolRegistry, UnknownToolError } from "./tools/registry.ts";
