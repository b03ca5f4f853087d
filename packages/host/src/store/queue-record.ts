import type { AgentMessage, QueuedMessages } from "@tau/agent";
import type { Entry } from "./entries.ts";
import { isJsonObject } from "./parse-line.ts";
import { repairMessage } from "./repair-message.ts";
import type { SessionStore } from "./session-store.ts";
import { QUEUE_RECORD } from "./tau-record-types.ts";

/** Messages that wait for their turn (laws Q1-Q5). Records of old files have no ids. */
export type QueueSnapshot = Omit<QueuedMessages, "queueIds"> & Partial<QueuedMessages>;

/** What an earlier process left in its queues. */
export interface PersistedQueues extends QueueSnapshot {
  /** Messages that hold no more: somebody else has continued the session since (report R295). */
  dropped: AgentMessage[];
}

interface Kept {
  readonly queue: "steering" | "followUp";
  readonly message: AgentMessage;
  readonly id: string | undefined;
}

/** Records both queues whole, when they are not what was recorded last. */
export function recordQueues(store: SessionStore, { steering, followUp, queueIds }: QueueSnapshot): void {
  // A copy: the queues change on.
  const data: QueueSnapshot = { steering: [...steering], followUp: [...followUp], ...(queueIds && { queueIds }) };
  const last = store.newestCustom(QUEUE_RECORD)?.data;
  const known = isJsonObject(last) ? last : { steering: [], followUp: [], ...(queueIds && { queueIds: NO_IDS }) };
  if (JSON.stringify(known) !== JSON.stringify(data)) store.append({ type: "custom", customType: QUEUE_RECORD, data });
}

const NO_IDS: QueuedMessages["queueIds"] = { steering: [], followUp: [] };

/**
 * The queues as they were recorded last, without what has entered the transcript since: a process that dies between
 * a message's entry and the next record neither loses a message nor sends it twice (law Q4). A user's message that
 * entered since without having been queued is the word of another program: nothing that waited is sent behind it.
 */
export function persistedQueues(store: SessionStore): PersistedQueues {
  const record = store.newestCustom(QUEUE_RECORD);
  let waiting = record ? keptIn(record.data) : [];
  if (!record || waiting.length === 0) return { steering: [], followUp: [], dropped: [] };
  for (const entry of since(store, record.id)) {
    const at = waiting.findIndex((kept) => isEntryOf(entry, kept));
    if (at >= 0) waiting = waiting.toSpliced(at, 1);
    else if (isForeign(entry)) return { steering: [], followUp: [], dropped: waiting.map(({ message }) => message) };
  }
  return { ...listed(waiting), dropped: [] };
}

/** The entries behind one, in file order. */
function since(store: SessionStore, id: string): readonly Entry[] {
  const entries = store.entries();
  return entries.slice(entries.findLastIndex((entry) => entry.id === id) + 1);
}

/** By its id; records of old files have none, and then only the very message can tell. */
function isEntryOf(entry: Entry, { id, message }: Kept): boolean {
  if (entry.type !== "message" && entry.type !== "custom_message") return false;
  if (id !== undefined) return entry.queueId === id;
  if (entry.type !== "message" || entry.message.role !== message.role) return false;
  return entry.message.timestamp === message.timestamp && contentOf(entry.message) === contentOf(message);
}

/** A user's message that did not come from the program whose messages wait. */
const isForeign = (entry: Entry): boolean =>
  entry.type === "message" && entry.message.role === "user" && entry.queueId === undefined;

const contentOf = (message: AgentMessage): string => JSON.stringify("content" in message ? message.content : "");

function keptIn(data: unknown): Kept[] {
  if (!isJsonObject(data)) return [];
  const ids = isJsonObject(data.queueIds) ? data.queueIds : {};
  return [...keptOf("steering", data.steering, ids.steering), ...keptOf("followUp", data.followUp, ids.followUp)];
}

function keptOf(queue: Kept["queue"], messages: unknown, ids: unknown): Kept[] {
  if (!Array.isArray(messages)) return [];
  return messages.flatMap((message: unknown, index) => {
    const id: unknown = Array.isArray(ids) ? ids[index] : undefined;
    if (!isMessage(message)) return [];
    return { queue, message: repairMessage(message, { blocks: 0 }), id: typeof id === "string" ? id : undefined };
  });
}

function isMessage(value: unknown): value is AgentMessage {
  return isJsonObject(value) && typeof value.role === "string";
}

function listed(waiting: readonly Kept[]): QueueSnapshot {
  const of = (wanted: Kept["queue"]) => waiting.filter(({ queue }) => queue === wanted);
  const [steering, followUp] = [of("steering"), of("followUp")];
  const ids = (kept: readonly Kept[]) => kept.flatMap(({ id }) => id ?? []);
  const queueIds = { steering: ids(steering), followUp: ids(followUp) };
  const named = queueIds.steering.length + queueIds.followUp.length === waiting.length;
  return {
    steering: steering.map(({ message }) => message),
    followUp: followUp.map(({ message }) => message),
    ...(named && waiting.length > 0 && { queueIds }),
  };
}
