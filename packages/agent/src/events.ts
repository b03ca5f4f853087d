import type { AssistantMessage, AssistantMessageEvent, ToolResultMessage } from "@tau/llm";
import type { AgentMessage } from "./messages.ts";
import type { AgentToolResult } from "./tool.ts";

/** Which limit of law T8 ended a run. */
export type LimitName = "maxTurns" | "maxConsecutiveLengthStops" | "maxIdenticalCalls" | "maxCallsPerMessage";

/** All that a run tells the world, in the order of laws T2 and T4. */
export type AgentEvent =
  | { type: "agent_start" }
  | { type: "agent_end"; messages: AgentMessage[]; limit?: LimitName }
  | { type: "turn_start" }
  | { type: "turn_end"; message: AssistantMessage; toolResults: ToolResultMessage[] }
  | { type: "message_start"; message: AgentMessage }
  | { type: "message_update"; message: AssistantMessage; assistantMessageEvent: AssistantMessageEvent }
  | { type: "message_end"; message: AgentMessage }
  | { type: "tool_execution_start"; toolCallId: string; toolName: string; args: Record<string, unknown> }
  | {
      type: "tool_execution_update";
      toolCallId: string;
      toolName: string;
      args: Record<string, unknown>;
      partialResult: AgentToolResult;
    }
  | {
      type: "tool_execution_end";
      toolCallId: string;
      toolName: string;
      result: AgentToolResult;
      isError: boolean;
      /** How long `execute` took, monotonic; absent when the tool did not run. */
      durationMs?: number;
    }
  | { type: "listener_error"; event: string; error: string };
