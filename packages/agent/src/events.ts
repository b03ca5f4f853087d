import type { AssistantMessage, AssistantMessageEvent, ToolResultMessage } from "@tau/llm";
import type { AgentMessage } from "./messages.ts";
import type { AgentToolResult } from "./tool.ts";

/** Which limit ended a run. */
export type LimitName = "maxTurns" | "maxConsecutiveLengthStops" | "maxIdenticalCalls" | "maxCallsPerMessage";
/** `queueId` is the id that `steer`, `followUp` or `interrupt` gave; absent for a message that was not queued. */
type OfMessage = { message: AgentMessage; queueId?: string };
type OfCall = { toolCallId: string; toolName: string };

/** All that a run reports, in order. `durationMs` (of `execute`) is absent when the tool did not run. */
export type AgentEvent =
  | { type: "agent_start" }
  | { type: "agent_end"; messages: AgentMessage[]; limit?: LimitName }
  | { type: "turn_start" }
  | { type: "turn_end"; message: AssistantMessage; toolResults: ToolResultMessage[] }
  | (OfMessage & { type: "message_start" })
  | { type: "message_update"; message: AssistantMessage; assistantMessageEvent: AssistantMessageEvent }
  | (OfMessage & { type: "message_end" })
  | (OfCall & { type: "tool_execution_start"; args: Record<string, unknown> })
  | (OfCall & { type: "tool_execution_update"; args: Record<string, unknown>; partialResult: AgentToolResult })
  | (OfCall & { type: "tool_execution_end"; result: AgentToolResult; isError: boolean; durationMs?: number })
  | { type: "listener_error"; event: string; error: string };
