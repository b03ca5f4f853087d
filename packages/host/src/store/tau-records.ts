import type { AgentMessage } from "@tau/agent";
import type { ToolCall } from "@tau/llm";
import type { Entry } from "./entries.ts";
import { mendMessage } from "./mend-message.ts";
import { isJsonObject } from "./parse-line.ts";
import type { Projection, SessionStore } from "./session-store.ts";
import { CALL_STARTED_RECORD, QUEUE_RECORD } from "./tau-record-types.ts";

/** A call that the model made and that has no result on the branch. */
export interface UnansweredCall {
  call: ToolCall;
  /** The assistant message's entry. */
  entryId: string;
  /** Whether it had begun to run, and so may have done something (laws C9, F10). */
  started: boolean;
}

/**
 * The calls at the end of a projection of the current leaf that have no result, in order. Only there can they be: the
 * loop closes what is open before anything else enters the transcript.
 */
export function unansweredCalls(store: SessionStore, projection: Projection = store.projection()): UnansweredCall[] {
  const { messages, entryIds } = projection;
  const at = messages.findLastIndex(({ role }) => role !== "toolResult");
  const reply = messages[at];
  if (reply?.role !== "assistant") return [];
  const answered = new Set(messages.slice(at + 1).map((result) => "toolCallId" in result && result.toolCallId));
  const open = reply.content.filter((block) => block.type === "toolCall").filter(({ id }) => !answered.has(id));
  if (open.length === 0) return [];
  const entryId = entryIds[at] ?? "";
  const started = startedSince(store, entryId);
  return open.map((call) => ({ call, entryId, started: started.has(call.id) }));
}

/** Ids of the calls whose start was recorded between an entry and the leaf. */
function startedSince(store: SessionStore, entryId: string): Set<string> {
  const started = new Set<string>();
  for (const entry of upwards(store)) {
    if (entry.id === entryId) break;
    const data = entry.type === "custom" && entry.customType === CALL_STARTED_RECORD ? entry.data : undefined;
    if (isJsonObject(data) && typeof data.toolCallId === "string") started.add(data.toolCallId);
  }
  return started;
}

function* upwards(store: SessionStore): Generator<Entry> {
  for (let id = store.leafId; id !== null; ) {
    const entry = store.entry(id);
    if (!entry) return;
    yield entry;
    id = entry.parentId;
  }
}

/** Messages that wait for their turn (laws Q1-Q5). */
export interface QueueSnapshot {
  steering: AgentMessage[];
  followUp: AgentMessage[];
}

/** Records both queues whole, when they are not what was recorded last. */
export function recordQueues(store: SessionStore, { steering, followUp }: QueueSnapshot): void {
  const last = queuesIn(store.newestCustom(QUEUE_RECORD)?.data);
  if (JSON.stringify(last) === JSON.stringify({ steering, followUp })) return;
  // A copy: the queues go on changing.
  const data: QueueSnapshot = { steering: [...steering], followUp: [...followUp] };
  store.append({ type: "custom", customType: QUEUE_RECORD, data });
}

/**
 * The queues as they were recorded last, without what has entered the transcript since: a process that dies between
 * a message's entry and the next record neither loses a message nor sends it twice (law Q4).
 */
export function persistedQueues(store: SessionStore): QueueSnapshot {
  const record = store.newestCustom(QUEUE_RECORD);
  const { steering, followUp } = queuesIn(record?.data);
  if (!record || steering.length + followUp.length === 0) return { steering, followUp };
  const entered = new Map<string, number>();
  for (const entry of upwards(store)) {
    if (entry.id === record.id || entry.timestamp < record.timestamp) break;
    const key = entry.type === "message" ? keyOf(entry.message) : undefined;
    if (key !== undefined) entered.set(key, (entered.get(key) ?? 0) + 1);
  }
  const waits = (message: AgentMessage): boolean => {
    const count = entered.get(keyOf(message)) ?? 0;
    entered.set(keyOf(message), count - 1);
    return count <= 0;
  };
  return { steering: steering.filter(waits), followUp: followUp.filter(waits) };
}

function keyOf(message: AgentMessage): string {
  return JSON.stringify([message.role, message.timestamp, "content" in message ? message.content : ""]);
}

function queuesIn(data: unknown): QueueSnapshot {
  if (!isJsonObject(data)) return { steering: [], followUp: [] };
  return { steering: messagesIn(data.steering), followUp: messagesIn(data.followUp) };
}

function messagesIn(value: unknown): AgentMessage[] {
  return Array.isArray(value) ? value.filter(isMessage).map((message) => mendMessage(message, { blocks: 0 })) : [];
}

function isMessage(value: unknown): value is AgentMessage {
  return isJsonObject(value) && typeof value.role === "string";
}
