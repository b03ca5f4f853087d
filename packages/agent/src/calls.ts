import type { AssistantMessage, ToolCall } from "@tau/llm";
import type { AgentMessage } from "./messages.ts";

/** The calls of a reply, by content block (law C1). */
export const callsOf = (message: AgentMessage): ToolCall[] =>
  message.role === "assistant" ? message.content.filter((block) => block.type === "toolCall") : [];

export const hasText = ({ content }: AssistantMessage): boolean =>
  content.some((block) => block.type === "text" && /\S/.test(block.text));

/** The ids of tool calls that are taken; gives new ones that are the same in every run (laws C10, D3). */
export class CallIds {
  /** Each taken id with the next number to try behind it. */
  readonly #used = new Map<string, number>();
  #unread: readonly AgentMessage[];

  /** @param messages whose ids are taken; read at the first claim, since most runs have no calls */
  constructor(messages: readonly AgentMessage[] = []) {
    this.#unread = messages;
  }

  /** `id` itself, or a new one when it is empty, no text, or taken. */
  claim(id: unknown): string {
    for (const message of this.#unread) for (const call of callsOf(message)) this.#used.set(call.id, 2);
    this.#unread = [];
    const stem = typeof id === "string" && id !== "" ? id : "call";
    let number = this.#used.get(stem) ?? (stem === id ? 2 : 1);
    let free = stem === id ? stem : `${stem}_${number++}`;
    while (this.#used.has(free)) free = `${stem}_${number++}`;
    this.#used.set(free, 2).set(stem, number);
    return free;
  }
}
