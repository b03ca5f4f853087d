import type { ToolCall } from "@tau/llm";
import type { AgentContext, Turn } from "./config.ts";
import type { AgentToolResult } from "./tool.ts";

type Args = Record<string, unknown>;
type Call = { assistantMessage: Turn["message"]; toolCall: ToolCall; args: Args; context: AgentContext };

/** `args` are validated. */
export type BeforeToolCallContext = Call;
/** Changed `args` are validated again (C11). */
export type BeforeToolCallResult = { block?: boolean; reason?: string; terminate?: boolean; args?: Args };
export type AfterToolCallContext = Call & { result: AgentToolResult; isError: boolean };
/** Each field that is present replaces the one of the result (C13). */
export type AfterToolCallResult = Partial<AgentToolResult>;
