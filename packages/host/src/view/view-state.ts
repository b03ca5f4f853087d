import type { AgentMessage, AgentToolResult } from "@tau/agent";
import type { AssistantMessage, AssistantMessageEvent, WireEvent } from "@tau/llm";
import type { CompactionReason } from "../compaction/compactor.ts";
import type { Phase, SessionEvent } from "../session/events/session-event.ts";
import type { OpenQuestion } from "../session/permission/questions.ts";
import type { RunOutcome } from "../session/run/outcome.ts";

/** One thing that a reader of the conversation sees, in the order in which it came. */
export type ViewItem =
  | { readonly kind: "message"; readonly message: AgentMessage }
  | { readonly kind: "notice"; readonly level: "info" | "warning"; readonly text: string };

/**
 * A list that only grows, newest item first: one more item costs the same however long the list is, and a front end
 * that has drawn some of it sees by identity where its part begins.
 */
export interface History<Item> {
  readonly item: Item;
  readonly before: History<Item> | undefined;
  /** Items up to and with this one. */
  readonly length: number;
}

/** A tool call that runs. */
export interface RunningCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** What the tool has reported so far. */
  readonly partialResult: AgentToolResult | undefined;
}

/** A tool call of this turn that has ended; its result message follows. */
interface EndedCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly result: AgentToolResult;
  readonly isError: boolean;
  /** Milliseconds; undefined when the tool did not run. */
  readonly durationMs: number | undefined;
}

/** A failed request that is about to be made again. */
interface WaitingRetry {
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Milliseconds from the moment at which it was announced. */
  readonly delayMs: number;
  readonly errorMessage: string;
}

/** What was used since the view began. */
export interface ViewUsage {
  readonly requests: number;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** US dollars. */
  readonly cost: number;
}

/** Everything that a front end shows of a session. Plain data; changed by `foldView` alone. */
export interface ViewState {
  /** From the first event of a prompt until it has settled. */
  readonly running: boolean;
  readonly phase: Phase;
  readonly history: History<ViewItem> | undefined;
  /** The message that is arriving; undefined between messages. */
  readonly arriving: AgentMessage | undefined;
  readonly runningCalls: ReadonlyMap<string, RunningCall>;
  readonly endedCalls: History<EndedCall> | undefined;
  readonly questions: readonly OpenQuestion[];
  /** Messages that wait, as texts. */
  readonly queue: { readonly steering: readonly string[]; readonly followUp: readonly string[] };
  readonly retry: WaitingRetry | undefined;
  readonly compacting: CompactionReason | undefined;
  readonly usage: ViewUsage;
  readonly model: { readonly provider: string; readonly modelId: string } | undefined;
  readonly thinkingLevel: string | undefined;
  readonly name: string | undefined;
  /** How the newest prompt ended; undefined while one runs and before the first. */
  readonly outcome: RunOutcome | undefined;
}

/** A delta as it comes in process, with the message so far, or over a wire, without it. */
interface MessageUpdate {
  readonly type: "message_update";
  readonly message?: AssistantMessage;
  readonly assistantMessageEvent: AssistantMessageEvent | WireEvent;
}

/** What the view is made of: events of a session in this process, or of one that is served over a wire. */
export type ViewEvent = Exclude<SessionEvent, { type: "message_update" }> | MessageUpdate;

const NO_USAGE: ViewUsage = { requests: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 };

/** A view of nothing. */
export const EMPTY_VIEW: ViewState = {
  running: false,
  phase: "idle",
  history: undefined,
  arriving: undefined,
  runningCalls: new Map(),
  endedCalls: undefined,
  questions: [],
  queue: { steering: [], followUp: [] },
  retry: undefined,
  compacting: undefined,
  usage: NO_USAGE,
  model: undefined,
  thinkingLevel: undefined,
  name: undefined,
  outcome: undefined,
};

/** The view of a session that was opened with these messages in it. */
export function viewOf(messages: readonly AgentMessage[]): ViewState {
  const history = messages.reduce<History<ViewItem> | undefined>(
    (list, message) => extended(list, { kind: "message", message }),
    undefined,
  );
  return { ...EMPTY_VIEW, history };
}

/** The list with one more item. */
export function extended<Item>(list: History<Item> | undefined, item: Item): History<Item> {
  return { item, before: list, length: (list?.length ?? 0) + 1 };
}

/**
 * The items that came after a point, oldest first.
 * @param since a list that this one grew from; undefined for all items
 */
export function itemsSince<Item>(list: History<Item> | undefined, since?: History<Item>): Item[] {
  const items: Item[] = [];
  for (let at = list; at && at !== since; at = at.before) items.push(at.item);
  return items.reverse();
}
