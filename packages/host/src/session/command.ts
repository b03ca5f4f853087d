import type { AgentMessage, CustomMessage } from "@tau/agent";
import type { ImageContent, Model, ThinkingLevel } from "@tau/llm";
import type { CompactionResult } from "../compaction/compactor.ts";
import type { Entry } from "../store/entries.ts";
import type { Navigation } from "../store/navigate.ts";
import type { UserCommandResult } from "../tools/bash/user-command-io.ts";
import type { QueueMode } from "./options.ts";
import type { PermissionScope } from "./permission/permission.ts";
import type { QueuedTexts } from "./queues/session-queue.ts";
import type { RunOutcome } from "./run/outcome.ts";
import type { SessionState, SessionStatistics } from "./session-state.ts";

/** A command without fields. */
export type None = Record<never, never>;

export interface Said {
  message: string;
  images?: ImageContent[];
}

/** What each command carries besides its `type`. Plain JSON. */
export interface CommandFields {
  hello: { protocolVersion?: number; capabilities?: string[] };
  respond_permission: {
    /** The `id` of the request. Without it the `id` of the command names the request. */
    permissionId?: string;
    decision: "allow" | "deny";
    scope?: PermissionScope;
    reason?: string;
  };
  /** During a run `streamingBehavior` names the queue for the message; without it the command is refused. */
  prompt: Said & { streamingBehavior?: "steer" | "followUp" };
  steer: Said;
  follow_up: Said;
  interrupt: Said;
  continue: None;
  wait: None;
  abort: None;
  clear_queue: None;
  add_message: Pick<CustomMessage, "customType" | "display"> & { content: string };
  get_state: None;
  get_messages: None;
  get_entries: { since?: string };
  get_tree: None;
  get_last_assistant_text: None;
  get_session_stats: None;
  get_commands: None;
  set_model: { provider: string; modelId: string };
  cycle_model: None;
  get_available_models: None;
  set_thinking_level: { level: ThinkingLevel };
  cycle_thinking_level: None;
  get_available_thinking_levels: None;
  set_steering_mode: { mode: QueueMode };
  set_follow_up_mode: { mode: QueueMode };
  set_auto_compaction: { enabled: boolean };
  set_auto_retry: { enabled: boolean };
  abort_retry: None;
  compact: { customInstructions?: string };
  set_session_name: { name: string };
  bash: { command: string; excludeFromContext?: boolean };
  abort_bash: None;
  new_session: { parentSession?: string };
  switch_session: { sessionPath: string };
  get_fork_messages: None;
  fork: { entryId: string };
  clone: None;
  /** `summarize` has the model sum up what is left behind; `summary` is one that is there already. */
  navigate: { entryId: string; summarize?: boolean; customInstructions?: string; summary?: string };
  export_html: { outputPath?: string };
}

/** The name of a command. */
export type CommandType = keyof CommandFields;

/** One command of a kind. `id` is the caller's own and comes back where it is needed. */
export type CommandOf<T extends CommandType> = { type: T; id?: string | number } & CommandFields[T];

/** Everything that can be asked of a session. */
export type Command = { [T in CommandType]: CommandOf<T> }[CommandType];

/** What became of a message. */
export interface Accepted {
  /** `handled`: nothing is sent to the model because of it. */
  disposition: "started" | "queued" | "handled";
}

export interface Replaced {
  /** Always false until extensions can refuse. */
  cancelled: boolean;
}

/** An entry with those that follow it. */
export interface TreeNode {
  entry: Entry;
  children: TreeNode[];
  label?: string;
  /** ISO 8601. */
  labelTimestamp?: string;
}

/** A prompt template or skill, called by a prompt that begins with `/name`. */
export interface SlashCommand {
  name: string;
  description: string;
  source: "prompt" | "skill" | "extension";
  sourceInfo: { path: string; source: string; scope: "user" | "project" | "temporary"; origin: "top-level" };
}

export type Nothing = undefined;

/** What each command gives back. */
export interface CommandData {
  hello: { protocolVersion: number; name: string; version: string; capabilities: string[] };
  respond_permission: Nothing;
  prompt: Accepted;
  steer: Accepted;
  follow_up: Accepted;
  interrupt: Accepted;
  continue: Accepted;
  /** Null before the first run. */
  wait: { outcome: RunOutcome | null };
  /** What is still queued. */
  abort: QueuedTexts;
  clear_queue: QueuedTexts;
  add_message: Nothing;
  get_state: SessionState;
  get_messages: { messages: AgentMessage[] };
  get_entries: { entries: Entry[]; leafId: string | null };
  get_tree: { tree: TreeNode[]; leafId: string | null };
  get_last_assistant_text: { text: string | null };
  get_session_stats: SessionStatistics;
  get_commands: { commands: SlashCommand[] };
  set_model: Model;
  cycle_model: { model: Model; thinkingLevel: ThinkingLevel; isScoped: boolean } | null;
  get_available_models: { models: Model[] };
  set_thinking_level: Nothing;
  cycle_thinking_level: { level: ThinkingLevel } | null;
  get_available_thinking_levels: { levels: ThinkingLevel[] };
  set_steering_mode: Nothing;
  set_follow_up_mode: Nothing;
  set_auto_compaction: Nothing;
  set_auto_retry: Nothing;
  /** False when no retry was waited for. */
  abort_retry: { aborted: boolean };
  /** `estimatedTokensAfter` counts the context that is left. */
  compact: CompactionResult & { estimatedTokensAfter: number };
  set_session_name: Nothing;
  bash: UserCommandResult;
  abort_bash: Nothing;
  new_session: Replaced;
  switch_session: Replaced;
  get_fork_messages: { messages: { entryId: string; text: string }[] };
  fork: Replaced & { text: string };
  clone: Replaced;
  navigate: Navigation;
  export_html: { path: string };
}
