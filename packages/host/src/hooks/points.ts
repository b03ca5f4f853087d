import type { AfterToolCallContext, AfterToolCallResult, AgentMessage } from "@tau/agent";

/** A call whose arguments are valid, before it runs. */
export interface ToolCheck {
  readonly toolCallId: string;
  readonly toolName: string;
  /** Validated. */
  readonly args: Readonly<Record<string, unknown>>;
}

/**
 * What a row says of a call; `undefined` means no opinion. The first `deny` or `ask` is the answer of all rows, `allow` and
 * no opinion leave it to the next one. Arguments that a row gives are those that the following rows see.
 */
export type ToolOpinion =
  | { readonly action: "allow"; readonly args?: Record<string, unknown> }
  | { readonly action: "ask"; readonly reason: string }
  | { readonly action: "deny"; readonly reason: string };

/** A call that ran. Message and context are there when it ran in a session, and not for a tool that was run by itself. */
export type FinishedCall = Pick<AfterToolCallContext, "toolCall" | "args" | "result" | "isError"> &
  Partial<Pick<AfterToolCallContext, "assistantMessage" | "context">>;

/** What a handler gives, at once or later. */
export type HookAnswer<Value> = Value | undefined | Promise<Value | undefined>;

/**
 * The points at which a row may take part, and what it may answer there; `undefined` changes nothing. `Outcome` is how
 * the host says that a prompt ended.
 */
export interface HookPoints<Outcome = unknown> {
  /** Before a turn: gives messages to begin it with; those of all rows are taken. */
  beforeTurn(signal: AbortSignal): HookAnswer<readonly AgentMessage[]>;
  /** Before a request: gives the messages that the model is to see. The list is a copy. */
  context(messages: AgentMessage[], signal: AbortSignal): HookAnswer<AgentMessage[]>;
  /** Before a tool runs. A row that throws, or takes too long, denies. */
  beforeTool(call: ToolCheck, signal: AbortSignal): HookAnswer<ToolOpinion>;
  /** After a tool ran: each field that is given replaces the one of the result. */
  afterTool(call: FinishedCall, signal: AbortSignal): HookAnswer<AfterToolCallResult>;
  /** When a message is whole, before anybody hears of it: gives one of the same role to take its place. */
  message(message: AgentMessage, signal: AbortSignal): HookAnswer<AgentMessage>;
  /** When nothing is left to do: gives messages that start another run; those of all rows are taken. */
  beforeSettle(outcome: Outcome, signal: AbortSignal): HookAnswer<readonly AgentMessage[]>;
}

export type HookPoint = keyof HookPoints;

/**
 * Whose row it is. At each point the rows run in this order, those of one owner in the order in which they were added:
 * the program that made the session first, then its extensions as they were loaded, then tau's own, which see what
 * everybody else has changed.
 */
export const HOOK_STAGES = ["program", "extension", "host"] as const;

export type HookStage = (typeof HOOK_STAGES)[number];

/** One handler at a point that is known. */
export interface HookRowAt<Point extends HookPoint, Outcome> {
  /** For reports, such as the name of an extension. */
  readonly name: string;
  readonly stage: HookStage;
  readonly point: Point;
  /** Milliseconds after which the row is given up; absent: it may take as long as it likes. */
  readonly timeoutMs?: number;
  readonly run: HookPoints<Outcome>[Point];
}

/** One handler at one point. */
export type HookRow<Outcome = unknown> = { [Point in HookPoint]: HookRowAt<Point, Outcome> }[HookPoint];
