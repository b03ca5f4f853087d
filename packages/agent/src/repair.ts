import type { AssistantMessage, Message, ToolCall, ToolResultMessage } from "@tau/llm";
import type { AgentMessage } from "./messages.ts";
import { isRecord } from "./values.ts";

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

/**
 * Normalises what goes to the provider (law B5): every call has one result directly after its message, every result
 * has its call, ids are unique, replies with nothing in them are left out. Linear; what was looked at for the request
 * before is not looked at again while it is the same objects (law O1).
 */
export class PairRepair {
  #seen: Message[] = [];
  #repaired: Message[] = [];
  #ids = new CallIds();
  /** The list is new each time, so that a provider may keep it. */
  repair(messages: Message[]): Message[] {
    const known = this.#seen.every((message, index) => message === messages[index]) ? this.#seen.length : 0;
    const orphans = known > 0 ? pair(messages.slice(known), this.#ids, this.#repaired) : 1;
    if (orphans > 0) {
      // A late result changes what was already looked at.
      this.#ids = new CallIds();
      this.#repaired = [];
      pair(messages, this.#ids, this.#repaired);
    }
    this.#seen = messages.slice();
    return this.#repaired.slice();
  }
}

/** Adds the repaired messages to `paired`; returns how many results had no call. */
function pair(messages: readonly Message[], ids: CallIds, paired: Message[]): number {
  /** Calls that wait for their results, under the ids that those have, and the place for it. */
  const waiting = new Map<string, { call: ToolCall; at: number }[]>();
  let orphans = 0;
  for (const message of messages) {
    if (message.role === "toolResult") {
      const slot = waiting.get(message.toolCallId)?.shift();
      if (slot) paired[slot.at] = resultOf(slot.call, message);
      else orphans++;
    } else if (message.role !== "assistant") paired.push(message);
    else {
      const calls = callsOf(message);
      const sound = calls.map((call) => soundCall(call, ids.claim(call.id)));
      // Thinking alone is no answer: providers refuse such a message, or take it for one to continue.
      if (calls.length > 0 || hasText(message)) paired.push(withCalls(message, calls, sound));
      for (const { id } of calls) waiting.set(id, []);
      for (const [index, call] of sound.entries())
        waiting.get(calls[index]?.id ?? "")?.push({ call, at: paired.push(missing(call, message)) - 1 });
    }
  }
  return orphans;
}

/** Providers refuse a call without a name, and one whose arguments are no object. */
function soundCall(call: ToolCall, id: string): ToolCall {
  if (id === call.id && call.name && isRecord(call.arguments)) return call;
  return { ...call, id, name: call.name || "unnamed", arguments: isRecord(call.arguments) ? call.arguments : {} };
}

function withCalls(message: AssistantMessage, calls: ToolCall[], sound: ToolCall[]): AssistantMessage {
  if (sound.every((call, index) => call === calls[index])) return message;
  let next = 0;
  return { ...message, content: message.content.map((block) => (block.type === "toolCall" && sound[next++]) || block) };
}

function resultOf({ id, name }: ToolCall, result: ToolResultMessage): ToolResultMessage {
  const same = result.toolCallId === id && result.toolName === name;
  return same ? result : { ...result, toolCallId: id, toolName: name };
}

function missing({ id, name }: ToolCall, { timestamp }: AssistantMessage): ToolResultMessage {
  const text = "There is no result of this call: the session was interrupted. It may have run in part.";
  const content = [{ type: "text" as const, text }];
  return { role: "toolResult", toolCallId: id, toolName: name, content, isError: true, timestamp };
}
