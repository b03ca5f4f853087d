import type { AssistantMessage, AssistantMessageEvent, ToolResultMessage } from "@tau/llm";
import type { AgentMessage } from "./messages.ts";
import type { AgentToolResult } from "./tool.ts";

/** Which limit of law T8 ended a run. */
export type LimitName = "maxTurns" | "maxConsecutiveLengthStops" | "maxIdenticalCalls" | "maxCallsPerMessage";
type OfCall = { toolCallId: string; toolName: string };

/** All that a run tells the world, in the order of laws T2 and T4. `durationMs` (of `execute`) is absent when the tool did not run. */
export type AgentEvent =
  | { type: "agent_start" }
  | { type: "agent_end"; messages: AgentMessage[]; limit?: LimitName }
  | { type: "turn_start" }
  | { type: "turn_end"; message: AssistantMessage; toolResults: ToolResultMessage[] }
  | { type: "message_start"; message: AgentMessage }
  | { type: "message_update"; message: AssistantMessage; assistantMessageEvent: AssistantMessageEvent }
  | { type: "message_end"; message: AgentMessage }
  | (OfCall & { type: "tool_execution_start"; args: Record<string, unknown> })
  | (OfCall & { type: "tool_execution_update"; args: Record<string, unknown>; partialResult: AgentToolResult })
  | (OfCall & { type: "tool_execution_end"; result: AgentToolResult; isError: boolean; durationMs?: number })
  | { type: "listener_error"; event: string; error: string };
