import type { Message, Model, StreamFn, StreamOptions, ThinkingLevel, Tool } from "@tau/llm";
import type { AgentEvent, LimitName } from "./events.ts";
import type * as Hook from "./hook.ts";
import type { AgentMessage } from "./messages.ts";
import type { QueueHooks, QueueSource } from "./queue.ts";
import type { AgentTool } from "./tool.ts";
import type { Awaitable } from "./values.ts";

type Answer<T> = Awaitable<T | undefined>;
export type Emit = (event: AgentEvent) => void | Promise<void>;

/** What a run works on: taken as shallow copies at its start (law B9). */
export type AgentContext = { systemPrompt?: string; messages: AgentMessage[]; tools?: AgentTool[] };
/** What a session began with (law B8). */
export type FirstHead = { systemPrompt?: string; tools?: Tool[] };
/**
 * Law T8. Defaults: maxConsecutiveLengthStops 3, maxIdenticalCalls 20 (in a row, also in short cycles),
 * maxParallelCalls 8, maxEmptyRetries 1 (how often a reply without text and calls is asked for again, report R010),
 * abortGraceMs 1000 (how long an abort waits for what ignores it, R8); the others have none.
 */
export type Limits = Partial<Record<LimitName | "maxParallelCalls" | "maxEmptyRetries" | "abortGraceMs", number>>;

/** What `turn_end` told, and what the turn worked with. */
export type Turn = Omit<Extract<AgentEvent, { type: "turn_end" }>, "type"> & { context: AgentContext };
/** Replaces what the next turn works with; the one way to change a running run (B9). */
export type NextTurn = { context?: AgentContext; model?: Model; thinkingLevel?: ThinkingLevel };
/** What a run is started with; without a `streamFn` the installed one is asked (B4). */
export type RunArguments = [AgentContext, AgentLoopConfig, emit: Emit, signal?: AbortSignal, streamFn?: StreamFn];

/** Beside the hooks the options of each request; `thinkingLevel` is `off` where none is asked for. */
export interface AgentLoopConfig extends Omit<StreamOptions, "signal">, QueueHooks {
  model: Model;
  convertToLlm(messages: AgentMessage[]): Awaitable<Message[]>;
  transformContext?(messages: AgentMessage[], signal: AbortSignal): Awaitable<AgentMessage[]>;
  toolExecution?: "parallel" | "sequential";
  /** Queues whose messages have ids, instead of the hooks. */
  queues?: QueueSource;
  /**
   * May replace a message before it enters the transcript and before anybody hears of its `message_end`. The new one has
   * the same role; a result stays the result of its call. A hook that fails is reported as `listener_error`, and the
   * message stays as it was.
   */
  beforeMessageEnd?(message: AgentMessage, signal: AbortSignal): Answer<AgentMessage>;
  beforeToolCall?(call: Hook.BeforeToolCallContext, signal: AbortSignal): Answer<Hook.BeforeToolCallResult>;
  afterToolCall?(call: Hook.AfterToolCallContext, signal: AbortSignal): Answer<Hook.AfterToolCallResult>;
  shouldStopAfterTurn?(turn: Turn): Awaitable<boolean>;
  prepareNextTurn?(turn: Turn, signal: AbortSignal): Answer<NextTurn>;
  limits?: Limits;
  /** Resolved before each request, so that short-lived keys stay fresh. */
  getApiKey?(model: Model): Awaitable<string | undefined>;
  /** Ids of calls that had started when an earlier run broke off; absent: not known (C9). */
  startedCalls?: ReadonlySet<string>;
  /** For a transcript that does not begin with a system message. Default: what the context says. */
  head?: FirstHead;
}
