import type { Usage, WireEvent } from "@tau/llm";
import type { SessionEvent } from "../session/events/session-event.ts";
import type { SessionErrorCode } from "../session/session-error.ts";

/** The answer to one command. `command` is `parse` when the line held none. */
export type RpcResponse = { type: "response"; id?: string | number; command: string } & (
  | { success: true; data?: unknown }
  /** `code` is there when the session refused the command; it stays the same where the words change. */
  | { success: false; error: string; code?: SessionErrorCode }
);

/** A word for the person at the client. It needs no answer; one that comes is passed over. */
export interface RpcNotice {
  type: "extension_ui_request";
  id: string;
  method: "notify";
  message: string;
  notifyType: "info" | "warning" | "error";
}

/** Every record that is not a response. */
export type RpcEvent =
  | RpcNotice
  | Exclude<SessionEvent, { type: "message_update" | "agent_end" }>
  | (Extract<SessionEvent, { type: "agent_end" }> & { willRetry: boolean })
  | { type: "message_update"; usage: Usage; assistantMessageEvent: WireEvent & { toolName?: string } };
