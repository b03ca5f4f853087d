import type {
  AssistantMessage,
  Message,
  Model,
  StreamFn,
  StreamOptions,
  ThinkingLevel,
  Tool,
  ToolCall,
} from "@tau/llm";
import type { AgentEvent, LimitName } from "./events.ts";
import type { AgentMessage } from "./messages.ts";
import type { QueueHooks, QueueSource } from "./queue.ts";
import type { AgentTool, AgentToolResult } from "./tool.ts";
import type { Awaitable } from "./values.ts";

/** What a run works on: taken as shallow copies at its start. */
export interface AgentContext {
  systemPrompt?: string;
  messages: AgentMessage[];
  tools?: AgentTool[];
}

/** What a session began with. */
export interface FirstHead {
  systemPrompt?: string;
  tools?: Tool[];
}

/** What the hooks of a call get to see: copies that they may keep and change. */
interface CallContext {
  assistantMessage: AssistantMessage;
  toolCall: ToolCall;
  /** Validated. */
  args: Record<string, unknown>;
  context: AgentContext;
}

export type BeforeToolCallContext = CallContext;

export interface BeforeToolCallResult {
  /** The call does not run; `reason` is what the model reads. */
  block?: boolean;
  reason?: string;
  /** Of a blocked call: its result asks for the end of the run. */
  terminate?: boolean;
  /** Validated again. */
  args?: Record<string, unknown>;
}

export interface AfterToolCallContext extends CallContext {
  result: AgentToolResult;
  isError: boolean;
}

/** Each field that is present replaces the one of the result. */
export type AfterToolCallResult = Partial<AgentToolResult>;

/** What `turn_end` said, and what the turn worked with. */
export type Turn = Omit<Extract<AgentEvent, { type: "turn_end" }>, "type"> & { context: AgentContext };

type Answer<T> = Awaitable<T | undefined>;
export type Emit = (event: AgentEvent) => void | Promise<void>;

/**
 * Bounds of a run. Defaults: maxConsecutiveLengthStops 3, maxIdenticalCalls 20 (in a row, also in short cycles),
 * maxParallelCalls 8, maxEmptyRetries 1 (how often a reply without text and calls is asked for again),
 * abortGraceMs 1000 (how long an abort waits for what ignores it); the others have none.
 */
export type Limits = Partial<Record<LimitName | "maxParallelCalls" | "maxEmptyRetries" | "abortGraceMs", number>>;

/** Replaces what the next turn works with; the one way to change a running run. */
export interface NextTurn {
  context?: AgentContext;
  model?: Model;
  thinkingLevel?: ThinkingLevel;
}

/** What a run is started with. */
export interface RunInput {
  context: AgentContext;
  config: AgentLoopConfig;
  emit: Emit;
  signal: AbortSignal | undefined;
  streamFn: StreamFn | undefined;
}

/** Beside the hooks the options of each request; `thinkingLevel` is `off` where none is asked for. */
export interface AgentLoopConfig extends Omit<StreamOptions, "signal">, QueueHooks {
  model: Model;
  convertToLlm(messages: AgentMessage[]): Awaitable<Message[]>;
  transformContext?(messages: AgentMessage[], signal: AbortSignal): Awaitable<AgentMessage[]>;
  toolExecution?: "parallel" | "sequential";
  /** Queues whose messages have ids, instead of the hooks. */
  queues?: QueueSource;
  beforeToolCall?(call: BeforeToolCallContext, signal: AbortSignal): Answer<BeforeToolCallResult>;
  afterToolCall?(call: AfterToolCallContext, signal: AbortSignal): Answer<AfterToolCallResult>;
  /**
   * May replace a message before it enters the transcript and before anybody hears of its `message_end`. The new one has
   * the same role; a result stays the result of its call. A hook that fails is reported as `listener_error`, and the
   * message stays as it was.
   */
  beforeMessageEnd?(message: AgentMessage, signal: AbortSignal): Answer<AgentMessage>;
  shouldStopAfterTurn?(turn: Turn): Awaitable<boolean>;
  prepareNextTurn?(turn: Turn, signal: AbortSignal): Answer<NextTurn>;
  limits?: Limits;
  /** Resolved before each request, so that short-lived keys stay fresh. */
  getApiKey?(model: Model): Awaitable<string | undefined>;
  /** Ids of calls that had started when an earlier run broke off; absent: not known. */
  startedCalls?: ReadonlySet<string>;
  /** For a transcript that does not begin with a system message. Default: what the context says. */
  head?: FirstHead;
  /** The clock, in Unix milliseconds; default `Date.now`. */
  now?(): number;
}
