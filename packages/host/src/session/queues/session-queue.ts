import type { Agent, AgentMessage, QueuedMessages } from "@tau/agent";
import { newSessionId } from "../../store/paths.ts";
import type { PersistedQueues } from "../../store/queue-record.ts";
import { messageText } from "./user-message.ts";

export type QueueKind = "steering" | "followUp";

/** A message under the id that it got when it was accepted. */
export interface AcceptedMessage {
  readonly id: string;
  readonly message: AgentMessage;
}

interface Queued extends AcceptedMessage {
  readonly kind: QueueKind;
}

/** The texts of what waits, as `queue_update` shows them. */
export interface QueuedTexts {
  steering: string[];
  followUp: string[];
}

type Runs = Pick<Agent, "steer" | "followUp" | "interrupt" | "clearAllQueues">;

/**
 * The one list of the messages that were accepted and are not in the transcript yet, wherever they wait: for the agent
 * to take them, with a prompt that is being started, or for the end of an abort (law Q4). A message is known by its id,
 * which its `message_end` names; then it leaves the list.
 */
export class SessionQueue {
  #items: readonly Queued[] = [];
  #agent: Runs | undefined;
  /** Texts of messages that an earlier process had queued and that hold no more. */
  #dropped: readonly string[] = [];
  readonly #changed: () => void;

  /** @param changed called after every change */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** The agent that takes messages from here; what waits already is given to it. */
  serve(agent: Runs): void {
    this.#agent = agent;
    for (const item of this.#items) this.#give(item);
  }

  get size(): number {
    return this.#items.length;
  }

  /** A message that is sent at once. */
  accept(message: AgentMessage): AcceptedMessage {
    return { id: newSessionId(Date.now()), message };
  }

  add(kind: QueueKind, message: AgentMessage): void {
    const item = { ...this.accept(message), kind };
    this.#give(item);
    this.#items = [...this.#items, item];
    this.#changed();
  }

  /** Stops reply or batch of the run that is on, which continues with this message (R10). */
  interrupt(message: AgentMessage): void {
    const { id } = this.accept(message);
    this.#items = [...this.#items, { id, message, kind: "steering" }];
    this.#changed();
    this.#agent?.interrupt({ id, message }).catch(() => undefined);
  }

  /** All that waits, in the order in which it came, to be sent with the next prompt. */
  takeAll(): AcceptedMessage[] {
    this.#agent?.clearAllQueues();
    return this.#items.map(({ id, message }) => ({ id, message }));
  }

  /** Takes out what no run has taken yet, to hand it back to the user (Q5). */
  handBack(): QueuedTexts {
    const { queueIds } = this.#agent?.clearAllQueues() ?? NOTHING;
    const back = new Set([...queueIds.steering, ...queueIds.followUp]);
    const taken = this.#items.filter(({ id }) => back.has(id));
    this.#items = this.#items.filter(({ id }) => !back.has(id));
    if (taken.length > 0) this.#changed();
    return textsOf(taken);
  }

  /** A message entered the transcript. */
  entered(id: string): void {
    const left = this.#items.filter((item) => item.id !== id);
    if (left.length === this.#items.length) return;
    this.#items = left;
    this.#changed();
  }

  /** Takes over what was queued when the session was left: it goes back to the user, or in front of the next prompt. */
  resume(kept: PersistedQueues): void {
    this.#dropped = kept.dropped.map(messageText);
    if (kept.steering.length + kept.followUp.length > 0) this.restore(kept);
  }

  /** Takes over lists of another process. Messages of old files and snapshots get their ids now. */
  restore(lists: Omit<QueuedMessages, "queueIds"> & Partial<QueuedMessages>): void {
    const items = (kind: QueueKind) =>
      lists[kind].map((message, index) => ({
        kind,
        message,
        id: lists.queueIds?.[kind][index] ?? newSessionId(Date.now()),
      }));
    this.#agent?.clearAllQueues();
    this.#items = [...items("steering"), ...items("followUp")];
    for (const item of this.#items) this.#give(item);
    this.#changed();
  }

  /** Texts of messages of an earlier process that are not sent any more; each is given once (report R295). */
  takeDropped(): readonly string[] {
    const dropped = this.#dropped;
    this.#dropped = [];
    if (dropped.length > 0) this.#changed();
    return dropped;
  }

  texts(): QueuedTexts {
    return textsOf(this.#items);
  }

  /** As it is kept in the file and in a snapshot. */
  list(): QueuedMessages {
    const of = (wanted: QueueKind) => this.#items.filter(({ kind }) => kind === wanted);
    const [steering, followUp] = [of("steering"), of("followUp")];
    return {
      steering: steering.map(({ message }) => message),
      followUp: followUp.map(({ message }) => message),
      queueIds: { steering: steering.map(({ id }) => id), followUp: followUp.map(({ id }) => id) },
    };
  }

  #give({ kind, id, message }: Queued): void {
    if (kind === "steering") this.#agent?.steer({ id, message });
    else this.#agent?.followUp({ id, message });
  }
}

const NOTHING: QueuedMessages = { steering: [], followUp: [], queueIds: { steering: [], followUp: [] } };

function textsOf(items: readonly Queued[]): QueuedTexts {
  const of = (wanted: QueueKind) =>
    items.filter(({ kind }) => kind === wanted).map(({ message }) => messageText(message));
  return { steering: of("steering"), followUp: of("followUp") };
}
