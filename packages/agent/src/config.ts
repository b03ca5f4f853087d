import type {
  AssistantMessage,
  Message,
  Model,
  StreamFn,
  StreamOptions,
  ThinkingLevel,
  ToolCall,
  ToolResultMessage,
} from "@tau/llm";
import type { AgentEvent } from "./events.ts";
import type { AgentMessage } from "./messages.ts";
import type { AgentTool, AgentToolResult } from "./tool.ts";

/** What a run works on: taken as shallow copies at its start (law B9). */
export interface AgentContext {
  systemPrompt?: string;
  messages: AgentMessage[];
  tools?: AgentTool[];
}

export interface Limits {
  maxTurns?: number;
  /** Default 3. */
  maxConsecutiveLengthStops?: number;
  /** Identical call and result pairs in a row, also in short cycles. Default 20. */
  maxIdenticalCalls?: number;
  maxCallsPerMessage?: number;
  /** Default 8. */
  maxParallelCalls?: number;
  /** How long an abort waits for tools, hooks and providers that ignore it (R8). Default 1000. */
  abortGraceMs?: number;
}

export interface BeforeToolCallContext {
  assistantMessage: AssistantMessage;
  toolCall: ToolCall;
  /** Validated arguments. */
  args: Record<string, unknown>;
  context: AgentContext;
}

export interface BeforeToolCallResult {
  block?: boolean;
  reason?: string;
  terminate?: boolean;
  /** Changed arguments; validated again (C11). */
  args?: Record<string, unknown>;
}

export interface AfterToolCallContext extends BeforeToolCallContext {
  result: AgentToolResult;
  isError: boolean;
}

/** Each field that is present replaces the one of the result (C13). */
export interface AfterToolCallResult {
  content?: AgentToolResult["content"];
  details?: unknown;
  isError?: boolean;
  terminate?: boolean;
}

export interface Turn {
  message: AssistantMessage;
  toolResults: ToolResultMessage[];
  context: AgentContext;
}

/** Replaces what the next turn works with; the one way to change a running run (B9). */
export interface NextTurn {
  context?: AgentContext;
  model?: Model;
  thinkingLevel?: ThinkingLevel;
}

export type Emit = (event: AgentEvent) => void | Promise<void>;

export interface AgentLoopConfig extends Omit<StreamOptions, "signal"> {
  model: Model;
  convertToLlm(messages: AgentMessage[]): Message[] | Promise<Message[]>;
  transformContext?(messages: AgentMessage[], signal: AbortSignal): AgentMessage[] | Promise<AgentMessage[]>;
  toolExecution?: "parallel" | "sequential";
  /** Polled before each request; what it gives enters as user messages (Q1). */
  getSteeringMessages?(): AgentMessage[] | Promise<AgentMessage[]>;
  /** Polled when the run would stop (T5). */
  getFollowUpMessages?(): AgentMessage[] | Promise<AgentMessage[]>;
  beforeToolCall?(
    context: BeforeToolCallContext,
    signal: AbortSignal,
  ): BeforeToolCallResult | undefined | Promise<BeforeToolCallResult | undefined>;
  afterToolCall?(
    context: AfterToolCallContext,
    signal: AbortSignal,
  ): AfterToolCallResult | undefined | Promise<AfterToolCallResult | undefined>;
  shouldStopAfterTurn?(turn: Turn): boolean | Promise<boolean>;
  prepareNextTurn?(turn: Turn, signal: AbortSignal): NextTurn | undefined | Promise<NextTurn | undefined>;
  limits?: Limits;
  /** Resolved before each request, so that short-lived keys stay fresh. */
  getApiKey?(model: Model): string | undefined | Promise<string | undefined>;
}

export type { StreamFn };
