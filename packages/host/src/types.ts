// Types that signatures of index.ts name and that programs seldom write down.
export type { OwnParts, SessionSettingsInput } from "./assembly/own-parts.ts";
export type { CommandServices } from "./commands/command-row.ts";
export type { CompactionSettings } from "./compaction/budget.ts";
export type {
  CompactionReason,
  CompactionRequest,
  CompactionResult,
  Compactor,
  ContextUse,
} from "./compaction/compactor.ts";
export type { WaitToRetry } from "./compaction/summarise.ts";
export type { ExportErrorCode } from "./export/export-error.ts";
export type { ExportFormat, ExportSink } from "./export/export-session.ts";
export type { ExportOptions } from "./export/source.ts";
export type { AfterToolRows, HookFailure } from "./hooks/hook-bus.ts";
export type {
  FinishedCall,
  HookAnswer,
  HookPoint,
  HookPoints,
  HookRow,
  HookRowAt,
  HookStage,
  ToolCheck,
  ToolOpinion,
} from "./hooks/points.ts";
export type { ContextFile, ContextFileCollector, ContextFileOptions } from "./prompt/context-files.ts";
export type { FoundSkills, Skill } from "./prompt/skills.ts";
export type { AdvisedTool, SystemPrompt, SystemPromptInput } from "./prompt/system-prompt.ts";
export type { FoundTemplates, PromptTemplate } from "./prompt/templates.ts";
export type { FieldsArgument, RpcConnection, RpcInput } from "./rpc/client.ts";
export type { RpcEvent, RpcNotice, RpcResponse } from "./rpc/records.ts";
export type { SpawnClientOptions } from "./rpc/spawn-client.ts";
export type { SubscribeOptions } from "./session/agent-session.ts";
export type {
  Accepted,
  CommandData,
  CommandFields,
  CommandOf,
  CommandType,
  None,
  Nothing,
  Replaced,
  Said,
  SlashCommand,
  TreeNode,
} from "./session/command.ts";
export type { Leaving, SummarizeLeft } from "./session/context/navigation.ts";
export type { HostSnapshot, SavedState } from "./session/context/snapshot.ts";
export type { CountTokens } from "./session/context/tokens.ts";
export type { HostEvent } from "./session/events/session-event.ts";
export type { SessionAgentHooks, Sleep } from "./session/options.ts";
export type { PermissionScope } from "./session/permission/permission.ts";
export type { OpenQuestion } from "./session/permission/questions.ts";
export type { QueuedTexts, QueueKind } from "./session/queues/session-queue.ts";
export type { UserInput } from "./session/queues/user-message.ts";
export type { FailureCode, FailureParams, LimitHit, LimitParams } from "./session/run/failure.ts";
export type { DataOutcome, Denied, RunYield } from "./session/run/outcome.ts";
export type { RetrySettings } from "./session/run/recovery.ts";
export type { SessionErrorCode } from "./session/session-error.ts";
export type { SpanStatistics } from "./session/session-state.ts";
export type { Spent, TokenTotals, Totals } from "./session/usage/stats.ts";
export type { UserCommandOptions } from "./session/user-commands.ts";
export type { AuthFile } from "./settings/auth-file.ts";
export type {
  Audience,
  ConfigErrorCode,
  ConfigFailure,
  ConfigFailures,
  InFile,
  MissingKey,
  Named,
} from "./settings/config-failure.ts";
export type { JsonObject } from "./settings/json-file.ts";
export type { LoadedSettings, LoadSettingsOptions } from "./settings/load-settings.ts";
export type { ModelChoice, ModelName, RegistryOptions, RequestCredentials } from "./settings/model-registry.ts";
export type { UserModels } from "./settings/models-file.ts";
export type { PermissionMode, QueueMode } from "./settings/settings.ts";
export type {
  BranchSummaryEntry,
  CompactionEntry,
  ContextEditEntry,
  CustomEntry,
  CustomMessageEntry,
  Draft,
  EditedContent,
  EntryBase,
  LabelEntry,
  MessageEntry,
  ModelChangeEntry,
  SessionInfoEntry,
  ThinkingLevelChangeEntry,
  UsageEntry,
} from "./store/entries.ts";
export type { LockOwner, SessionFileErrorCode, SessionLock } from "./store/errors.ts";
export type { ForkOptions } from "./store/fork-session.ts";
export type { SessionLookup } from "./store/list-sessions.ts";
export type { LeftBranch, Navigation } from "./store/navigate.ts";
export type { CreateSessionOptions, NewSessionOptions, OpenSessionOptions } from "./store/open-session.ts";
export type { SearchHit, SearchOptions } from "./store/search-sessions.ts";
export type { Projection, RecordingState } from "./store/session-store.ts";
export type { FileIdentity, StoreFs } from "./store/store-fs.ts";
export type { Seed } from "./store/tree-store.ts";
export type { UserCommandIo, UserCommandResult } from "./tools/bash/user-command-io.ts";
export type { FactsOf } from "./tools/call-facts.ts";
export type { CallBody, ToolAdvice, ToolFacts, TouchedPaths } from "./tools/definition.ts";
export type { KeepWhole } from "./tools/pipeline/result-cap.ts";
