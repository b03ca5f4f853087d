import type { AgentMessage } from "@tau/agent";
import type { Model, ThinkingLevel, Usage, WireEvent } from "@tau/llm";
import type { AgentSession } from "../session/agent-session.ts";
import type { CommandFields } from "../session/command.ts";
import type { SessionEvent } from "../session/events/session-event.ts";
import type { SessionStatistics } from "../session/session-state.ts";
import type { Entry } from "../store/entries.ts";
import type { Navigation } from "../store/navigate.ts";

/** Version of the protocol of docs/rpc.md; it grows when a client would have to change. */
export const PROTOCOL_VERSION = 1;

export type SessionFields = Omit<CommandFields, "respond_permission">;

/** What each command carries besides `type` and `id`. */
export interface RpcFields extends SessionFields {
  hello: { protocolVersion?: number; capabilities?: string[] };
  get_state: object;
  get_messages: object;
  get_entries: { since?: string };
  get_tree: object;
  get_last_assistant_text: object;
  get_session_stats: object;
  get_commands: object;
  get_available_models: object;
  cycle_model: object;
  cycle_thinking_level: object;
  get_available_thinking_levels: object;
  bash: { command: string; excludeFromContext?: boolean };
  abort_bash: object;
  export_html: { outputPath?: string };
  new_session: { parentSession?: string };
  switch_session: { sessionPath: string };
  fork: { entryId: string };
  clone: object;
  get_fork_messages: object;
  /** `permissionId` names the question; without it `id` does, as in the ecosystem's dialogs. */
  respond_permission: Omit<CommandFields["respond_permission"], "id"> & { permissionId?: string };
}

export type RpcCommandType = keyof RpcFields;

/** One command as it goes over the wire. */
export type RpcCommand = {
  [T in RpcCommandType]: { id?: string | number; type: T } & RpcFields[T];
}[RpcCommandType];

export interface Accepted {
  /** `handled`: nothing is sent to the model because of it. */
  disposition: "started" | "queued" | "handled";
}
export interface Queued {
  steering: string[];
  followUp: string[];
}
export interface Replaced {
  /** Always false until extensions can refuse. */
  cancelled: boolean;
}
export type Nothing = undefined;
export type CompactionResult = Awaited<ReturnType<AgentSession["compact"]>>;
export type UserCommandResult = Awaited<ReturnType<AgentSession["runUserCommand"]>>;

/** How a session stands, with the ecosystem's names. */
export interface RpcState {
  model: Model;
  thinkingLevel: ThinkingLevel;
  isStreaming: boolean;
  isCompacting: boolean;
  steeringMode: "all" | "one-at-a-time";
  followUpMode: "all" | "one-at-a-time";
  /** Absent for a session in memory. The file is made with the first message. */
  sessionFile?: string;
  sessionId: string;
  sessionName?: string;
  autoCompactionEnabled: boolean;
  messageCount: number;
  pendingMessageCount: number;
  /** From here on tau's own. */
  autoRetryEnabled: boolean;
  phase: string;
  /** Permission requests that wait for an answer, as their events had them. */
  openQuestions: { id: string; toolCallId: string; toolName: string; args: object; reason: string }[];
}

/** An entry with those that follow it. */
export interface RpcTreeNode {
  entry: Entry;
  children: RpcTreeNode[];
  label?: string;
  /** ISO 8601. */
  labelTimestamp?: string;
}

/** A template or skill, called by a prompt that begins with `/name`. */
export interface RpcSlashCommand {
  name: string;
  description: string;
  source: "prompt" | "skill" | "extension";
  sourceInfo: { path: string; source: string; scope: "user" | "project" | "temporary"; origin: "top-level" };
}

/** What each command is answered with, as `data` of its response. */
export interface RpcData {
  hello: { protocolVersion: number; name: string; version: string; capabilities: string[] };
  prompt: Accepted;
  continue: Accepted;
  steer: Accepted;
  follow_up: Accepted;
  interrupt: Accepted;
  /** What is still queued. */
  abort: Queued;
  clear_queue: Queued;
  get_state: RpcState;
  get_messages: { messages: AgentMessage[] };
  get_entries: { entries: Entry[]; leafId: string | null };
  get_tree: { tree: RpcTreeNode[]; leafId: string | null };
  get_last_assistant_text: { text: string | null };
  get_session_stats: SessionStatistics;
  get_commands: { commands: RpcSlashCommand[] };
  set_model: Model;
  cycle_model: { model: Model; thinkingLevel: ThinkingLevel; isScoped: boolean } | null;
  get_available_models: { models: Model[] };
  set_thinking_level: Nothing;
  cycle_thinking_level: { level: ThinkingLevel } | null;
  get_available_thinking_levels: { levels: ThinkingLevel[] };
  set_steering_mode: Nothing;
  set_follow_up_mode: Nothing;
  compact: CompactionResult;
  set_auto_compaction: Nothing;
  set_auto_retry: Nothing;
  abort_retry: Nothing;
  bash: UserCommandResult;
  abort_bash: Nothing;
  export_html: { path: string };
  new_session: Replaced;
  switch_session: Replaced;
  fork: Replaced & { text: string };
  clone: Replaced;
  get_fork_messages: { messages: { entryId: string; text: string }[] };
  set_session_name: Nothing;
  /** `editorText` is that of the user message that was gone back behind. */
  navigate: Navigation;
  respond_permission: Nothing;
}

/** The answer to one command. `command` is `parse` when the line held none. */
export type RpcResponse = { type: "response"; id?: string | number; command: string } & (
  | { success: true; data?: unknown }
  | { success: false; error: string }
);

/** Output of a `bash` command as it comes; `id` is that of the command. */
export interface BashUpdate {
  type: "bash_execution_update";
  id?: string | number;
  delta: string;
}

/** Every record that is no response. */
export type RpcEvent =
  | Exclude<SessionEvent, { type: "message_update" | "agent_end" }>
  | (Extract<SessionEvent, { type: "agent_end" }> & { willRetry: boolean })
  | { type: "message_update"; usage: Usage; assistantMessageEvent: WireEvent & { toolName?: string } }
  | BashUpdate;
