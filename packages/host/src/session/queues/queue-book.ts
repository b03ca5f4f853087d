import type { AgentMessage } from "@tau/agent";
import { messageText } from "./user-message.ts";

export type QueueKind = "steering" | "followUp";

interface Queued {
  readonly kind: QueueKind;
  readonly message: AgentMessage;
}

/** The texts of what waits, as `queue_update` shows them. */
export interface QueuedTexts {
  steering: string[];
  followUp: string[];
}

/** What waits, as it is kept in the file (`tau.queue`) and in a snapshot. */
export interface QueuedMessages {
  steering: AgentMessage[];
  followUp: AgentMessage[];
}

/**
 * Every message that was accepted and is not in the transcript yet, wherever it waits: in the agent's queues, on its
 * way from there, or for the end of an abort (law Q4). It leaves the book when its `message_end` comes.
 */
export class QueueBook {
  #items: readonly Queued[] = [];
  readonly #changed: () => void;

  /** @param changed told after every change */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  get size(): number {
    return this.#items.length;
  }

  add(kind: QueueKind, message: AgentMessage): void {
    this.#items = [...this.#items, { kind, message }];
    this.#changed();
  }

  /** Notes that a message entered the transcript. False when it did not come from a queue. */
  delivered(message: AgentMessage): boolean {
    if (this.#items.length === 0) return false;
    const at = this.#find(message);
    if (at < 0) return false;
    this.#items = this.#items.toSpliced(at, 1);
    this.#changed();
    return true;
  }

  /** Takes these out, to hand them back. */
  remove(messages: readonly AgentMessage[]): void {
    const before = this.#items;
    for (const message of messages) {
      const at = this.#find(message);
      if (at >= 0) this.#items = this.#items.toSpliced(at, 1);
    }
    if (this.#items !== before) this.#changed();
  }

  /** All, in the order in which they came. */
  all(): AgentMessage[] {
    return this.#items.map(({ message }) => message);
  }

  /** Takes over what a snapshot says. */
  replace({ steering, followUp }: QueuedMessages): void {
    const items = (kind: QueueKind, messages: AgentMessage[]) => messages.map((message) => ({ kind, message }));
    this.#items = [...items("steering", steering), ...items("followUp", followUp)];
    this.#changed();
  }

  texts(): QueuedTexts {
    const { steering, followUp } = this.messages();
    return { steering: steering.map(messageText), followUp: followUp.map(messageText) };
  }

  messages(): QueuedMessages {
    const of = (kind: QueueKind) => this.#items.filter((item) => item.kind === kind).map(({ message }) => message);
    return { steering: of("steering"), followUp: of("followUp") };
  }

  /** The very message, or one that says the same: the loop, a snapshot or a hook may have made a copy on its way. */
  #find(message: AgentMessage): number {
    const same = this.#items.findIndex((item) => item.message === message);
    if (same >= 0) return same;
    const text = JSON.stringify(message);
    return this.#items.findIndex((item) => JSON.stringify(item.message) === text);
  }
}
