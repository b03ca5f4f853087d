// The public names of @tau/agent, listed by hand.

export { Agent, type AgentOptions } from "./agent.ts";
export type { AgentSnapshot, AgentState } from "./agent-state.ts";
export { brokenReplyResults, isBrokenReply } from "./broken-reply.ts";
// What the hooks around a call are given, and give back.
export type {
  AfterToolCallContext,
  AfterToolCallResult,
  AgentContext,
  AgentLoopConfig,
  BeforeToolCallContext,
  BeforeToolCallResult,
  Emit,
  FirstHead,
  Limits,
  NextTurn,
  Turn,
} from "./config.ts";
export { defaultConvertToLlm } from "./convert.ts";
export type { AgentEvent, LimitName } from "./events.ts";
export type { AgentListener } from "./listeners.ts";
export { runAgentLoop, runAgentLoopContinue, setDefaultStreamFn } from "./loop.ts";
export type {
  AgentMessage,
  BashExecutionMessage,
  BranchSummaryMessage,
  CompactionSummaryMessage,
  CustomAgentMessages,
  CustomMessage,
} from "./messages.ts";
export { type AgentStream, agentLoop, agentLoopContinue, type PullConfig, type PullInput } from "./pull.ts";
export type { Incoming, QueuedMessage, QueuedMessages, QueueMode, QueueName, QueueSource } from "./queue.ts";
export type { AgentTool, AgentToolResult, ToolUpdateCallback } from "./tool.ts";
