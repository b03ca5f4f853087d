import type { ToolCall } from "@tau/llm";
import type { Entry, EntryDraft } from "./entries.ts";
import { isJsonObject } from "./parse-line.ts";
import type { Projection, SessionStore } from "./session-store.ts";
import { CALL_STARTED_RECORD } from "./tau-record-types.ts";

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

/**
 * Ids of the calls at the end of a projection that had started when the session was broken off. The loop closes all
 * calls that are open, and says of each whether it may have run in part (laws C9, F10).
 */
export function startedCalls(store: SessionStore, projection: Projection): Set<string> {
  const open = unansweredCalls(store, projection).filter(({ started }) => started);
  return new Set(open.map(({ call }) => call.id));
}

/** Written right before a tool runs, so that a reopened session knows what may have run in part (law F10). */
export function callStarted(toolCallId: string, toolName: string): EntryDraft {
  return { type: "custom", customType: CALL_STARTED_RECORD, data: { toolCallId, toolName } };
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
