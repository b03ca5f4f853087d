// The public names of @tau/agent, listed by hand.

export { Agent, type AgentOptions, type AgentSnapshot, type AgentState } from "./agent.ts";
export type { AgentContext, AgentLoopConfig, Emit, FirstHead, Limits, NextTurn, Turn } from "./config.ts";
export { defaultConvertToLlm } from "./convert.ts";
export type { AgentEvent, LimitName } from "./events.ts";
export type { AfterToolCallContext, AfterToolCallResult, BeforeToolCallContext, BeforeToolCallResult } from "./hook.ts";
export { runAgentLoop, runAgentLoopContinue, setDefaultStreamFn } from "./loop.ts";
export type {
  AgentMessage,
  BashExecutionMessage,
  BranchSummaryMessage,
  CompactionSummaryMessage,
  CustomAgentMessages,
  CustomMessage,
} from "./messages.ts";
export { type AgentStream, agentLoop, agentLoopContinue, type PullInput } from "./pull.ts";
export type { Incoming, QueuedMessage, QueuedMessages, QueueMode, QueueName, QueueSource } from "./queue.ts";
export type { AgentTool, AgentToolResult, ToolUpdateCallback } from "./tool.ts";
