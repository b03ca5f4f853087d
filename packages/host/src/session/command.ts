import type { ImageContent, ThinkingLevel } from "@tau/llm";
import type { QueueMode } from "./options.ts";
import type { PermissionScope } from "./permission/permission.ts";

export interface Said {
  message: string;
  images?: ImageContent[];
}

/** What each command carries besides its `type`. Plain JSON, in the names of the RPC protocol. */
export interface CommandFields {
  /** During a run `streamingBehavior` says which queue the message goes to; without it the command is refused. */
  prompt: Said & { streamingBehavior?: "steer" | "followUp" };
  /** Starts a run without a new message (law R2). */
  continue: object;
  steer: Said;
  follow_up: Said;
  interrupt: Said;
  abort: object;
  /** Takes the queued messages out and gives their texts. */
  clear_queue: object;
  set_model: { provider: string; modelId: string };
  set_thinking_level: { level: ThinkingLevel };
  set_steering_mode: { mode: QueueMode };
  set_follow_up_mode: { mode: QueueMode };
  set_auto_retry: { enabled: boolean };
  set_auto_compaction: { enabled: boolean };
  abort_retry: object;
  compact: { customInstructions?: string };
  set_session_name: { name: string };
  /** Goes to another point of the tree; `summarize` has what is left behind summed up there. */
  navigate: { entryId: string; summarize?: boolean; customInstructions?: string };
  respond_permission: { id: string; decision: "allow" | "deny"; scope?: PermissionScope; reason?: string };
}

export type CommandType = keyof CommandFields;
export type CommandOf<T extends CommandType> = { type: T } & CommandFields[T];

/** Everything that a front end can ask of a session. */
export type Command = { [T in CommandType]: CommandOf<T> }[CommandType];
