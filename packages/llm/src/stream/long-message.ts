import type { AssistantContent, AssistantMessage } from "../protocol/message.ts";
import type { BlockList } from "./block-list.ts";

/** An unfinished message with other content; it has no fields but these. Object literals cost a third of spreads. */
export function unfinishedMessage(message: AssistantMessage, content: AssistantContent[]): AssistantMessage {
  const next: AssistantMessage = {
    role: "assistant",
    content,
    api: message.api,
    provider: message.provider,
    model: message.model,
    usage: message.usage,
    stopReason: message.stopReason,
    timestamp: message.timestamp,
  };
  if (message.responseId !== undefined) next.responseId = message.responseId;
  return next;
}

/** An unfinished message of many blocks. To others it is a plain object; its list is made when someone looks. */
export class LongMessage implements AssistantMessage {
  readonly role = "assistant";
  readonly api: string;
  readonly provider: string;
  readonly model: string;
  readonly usage: AssistantMessage["usage"];
  readonly stopReason: AssistantMessage["stopReason"];
  readonly timestamp: number;
  readonly responseId?: string;
  declare readonly content: AssistantContent[];
  readonly #blocks: BlockList;

  constructor(head: AssistantMessage, blocks: BlockList) {
    this.api = head.api;
    this.provider = head.provider;
    this.model = head.model;
    this.usage = head.usage;
    this.stopReason = head.stopReason;
    this.timestamp = head.timestamp;
    if (head.responseId !== undefined) this.responseId = head.responseId;
    this.#blocks = blocks;
    Object.defineProperty(this, "content", CONTENT);
  }

  static look(message: LongMessage): AssistantContent[] {
    return message.#blocks.toArray();
  }
}

// An own property, so that copies and JSON have it, and one function for all, which is ten times faster than one each.
const CONTENT: PropertyDescriptor & ThisType<LongMessage> = {
  enumerable: true,
  configurable: true,
  get() {
    return LongMessage.look(this);
  },
};
