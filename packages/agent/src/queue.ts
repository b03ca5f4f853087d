import type { ImageContent } from "@tau/llm";
import { ownMessage, soundMessage } from "./convert.ts";
import type { AgentMessage } from "./messages.ts";
import { type Awaitable, isRecord } from "./values.ts";

/** How many messages of a queue enter at each poll: the first one, or all that wait. */
export type QueueMode = "one-at-a-time" | "all";
export type QueueName = "steering" | "follow_up" | "interrupt";
/** A message under the id that it got when it was accepted; `message_start` and `message_end` carry the id as `queueId`. */
export type QueuedMessage = { readonly id: string; readonly message: AgentMessage };
/** A message on its way into the transcript; without an id when it comes from no queue. */
export type Incoming<Message extends AgentMessage = AgentMessage> = { readonly id?: string; readonly message: Message };
export type Input = string | AgentMessage | Incoming;

/** What waits. `queueIds` has the id of each message, in the same order. */
export type QueuedMessages = Record<"steering" | "followUp", AgentMessage[]> & {
  queueIds: Record<"steering" | "followUp", string[]>;
};

/** Where a run takes queued messages from. */
export interface QueueSource {
  /** Messages that are taken and not in the transcript yet, with the queue that each is from. */
  readonly underway: Map<Incoming, QueueName>;
  take(from: "steering" | "follow_up"): Awaitable<readonly Incoming[]>;
  /** Takes back what was taken but came to nothing. Without it, such messages enter the transcript. */
  giveBack?(taken: readonly Incoming[], from: QueueName): void;
  /** Asked once the signal has fired: messages to continue with, and the signal that holds from then on. */
  takeInterrupt?(): { messages: readonly Incoming[]; signal: AbortSignal } | undefined;
}

export interface QueueHooks {
  /** Polled before each request; what it gives enters as user messages (Q1). */
  getSteeringMessages?(): Awaitable<AgentMessage[]>;
  /** Polled when the run would stop (T5). */
  getFollowUpMessages?(): Awaitable<AgentMessage[]>;
  /** Takes back what was polled but came to nothing (Q4). Without it, such messages enter the transcript. */
  returnMessages?(messages: AgentMessage[], from: QueueName): void;
}

/** @throws TypeError for anything that is not a text, a message, or a message with its id */
export function incomingOf(given: Input, now: () => number, images?: ImageContent[]): Incoming {
  if (!isIncoming(given)) return { message: ownMessage(given, { now, images }) };
  const message = ownMessage(given.message, { now, images });
  return given.id === undefined ? { message } : { id: String(given.id), message };
}

const isIncoming = (given: Input): given is Incoming => isRecord(given) && !("role" in given) && "message" in given;

/** The queues of a run that is given hooks. What they give has no ids. */
export function hookQueues(hooks: QueueHooks): QueueSource {
  const { returnMessages } = hooks;
  const take: QueueSource["take"] = async (from) => {
    const given = await (from === "steering" ? hooks.getSteeringMessages?.() : hooks.getFollowUpMessages?.());
    return (given ?? []).map((message) => ({ message: soundMessage(message) }));
  };
  const source: QueueSource = { underway: new Map(), take };
  if (returnMessages) source.giveBack = (taken, from) => returnMessages(messagesOf(taken), from);
  return source;
}

const messagesOf = (list: readonly Incoming[]) => list.map(({ message }) => message);

/** The queues of an agent (laws Q). Every message has an id from the moment it is accepted. */
export class MessageQueues {
  /** Taken by the run, and not in the transcript yet. */
  readonly underway = new Map<Incoming, QueueName>();
  readonly #waiting: Record<"steering" | "followUp", Incoming[]> = { steering: [], followUp: [] };
  /** How many messages at the head of the steering queue are interrupts. */
  #interrupts = 0;
  /** Ids that cannot be given again. */
  readonly #ids = new Set<string>();
  #accepted = 0;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  get size(): number {
    return this.#waiting.steering.length + this.#waiting.followUp.length;
  }

  get isInterrupted(): boolean {
    return this.#interrupts > 0;
  }

  /**
   * Makes a message one of ours, with the id that it brings or a new one.
   * @throws TypeError for what is not a message, Error for an id that waits already
   */
  accept(given: Input, images?: ImageContent[]): Required<Incoming> {
    const { id = this.#newId(), message } = incomingOf(given, this.#now, images);
    if (this.#ids.has(id)) throw new Error(`The id "${id}" was given to another message; give each one its own id.`);
    this.#ids.add(id);
    return { id, message };
  }

  /** Gives the id. */
  add(queue: "steering" | "followUp", accepted: Required<Incoming>): string {
    this.#waiting[queue].push(accepted);
    return accepted.id;
  }

  /** Behind the interrupts that wait already, before all steering. */
  addInterrupt(accepted: Incoming): void {
    this.#waiting.steering.splice(this.#interrupts++, 0, accepted);
  }

  take(queue: "steering" | "followUp", mode: QueueMode): Incoming[] {
    const waiting = this.#waiting[queue];
    return waiting.splice(0, mode === "all" ? waiting.length : 1);
  }

  takeInterrupts(): Incoming[] {
    const count = this.#interrupts;
    this.#interrupts = 0;
    return this.#waiting.steering.splice(0, count);
  }

  giveBack(taken: readonly Incoming[], from: QueueName): void {
    if (from === "follow_up") this.#waiting.followUp.unshift(...taken);
    else this.#waiting.steering.splice(this.#interrupts, 0, ...taken);
  }

  /** What an abort or a new run overtook is plain steering. */
  forgetInterrupts(): void {
    this.#interrupts = 0;
  }

  clear(): QueuedMessages {
    const { steering, followUp } = this.#waiting;
    this.#interrupts = 0;
    // Whoever got them back may queue them again.
    for (const { id = "" } of [...steering, ...followUp]) this.#ids.delete(id);
    return listed(steering.splice(0), followUp.splice(0));
  }

  /** What waits and what is underway: the messages that are accepted and not in the transcript. */
  list(): QueuedMessages {
    const taken = (isFollowUp: boolean) =>
      [...this.underway].flatMap(([item, from]) => ((from === "follow_up") === isFollowUp ? item : []));
    const { steering, followUp } = this.#waiting;
    return listed([...taken(false), ...steering], [...taken(true), ...followUp]);
  }

  /** Takes over what `list` gave; ids that are missing, as in an old snapshot, are new ones. */
  restore({ steering, followUp, queueIds }: Omit<QueuedMessages, "queueIds"> & Partial<QueuedMessages>): void {
    this.clear();
    for (const [queue, messages] of [["steering", steering] as const, ["followUp", followUp] as const])
      for (const [index, message] of messages.entries())
        this.add(queue, this.accept({ id: queueIds?.[queue][index] ?? this.#newId(), message }));
  }

  #newId(): string {
    let id = `q${++this.#accepted}`;
    while (this.#ids.has(id)) id = `q${++this.#accepted}`;
    return id;
  }
}

function listed(steering: readonly Incoming[], followUp: readonly Incoming[]): QueuedMessages {
  const ids = (list: readonly Incoming[]) => list.map(({ id = "" }) => id);
  const queueIds = { steering: ids(steering), followUp: ids(followUp) };
  return { steering: messagesOf(steering), followUp: messagesOf(followUp), queueIds };
}
