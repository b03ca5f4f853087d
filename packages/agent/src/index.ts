// The public names of @tau/agent, listed by hand.
export type {
  AfterToolCallContext,
  AfterToolCallResult,
  AgentContext,
  AgentLoopConfig,
  BeforeToolCallContext,
  BeforeToolCallResult,
  Emit,
  Limits,
  NextTurn,
  Turn,
} from "./config.ts";
export type { AgentEvent, LimitName } from "./events.ts";
export type {
  AgentMessage,
  BashExecutionMessage,
  BranchSummaryMessage,
  CompactionSummaryMessage,
  CustomAgentMessages,
  CustomMessage,
} from "./messages.ts";
export type { AgentTool, AgentToolResult, ToolUpdateCallback } from "./tool.ts";
