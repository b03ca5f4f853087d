import type { Usage, WireEvent } from "@tau/llm";
import type { SessionEvent } from "../session/events/session-event.ts";
import type { SessionErrorCode } from "../session/session-error.ts";

/** The answer to one command. `command` is `parse` when the line held none. */
export type RpcResponse = { type: "response"; id?: string | number; command: string } & (
  | { success: true; data?: unknown }
  /** `code` is there when the session refused the command; it stays the same where the words change. */
  | { success: false; error: string; code?: SessionErrorCode }
);

/** Every record that is not a response. */
export type RpcEvent =
  | Exclude<SessionEvent, { type: "message_update" | "agent_end" }>
  | (Extract<SessionEvent, { type: "agent_end" }> & { willRetry: boolean })
  | { type: "message_update"; usage: Usage; assistantMessageEvent: WireEvent & { toolName?: string } };
