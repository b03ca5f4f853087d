import type { AssistantMessage, Message, ToolCall, ToolResultMessage } from "@tau/llm";
import type { AgentMessage } from "./messages.ts";
import { isRecord } from "./values.ts";

/** A call of the transcript with the result that belongs to it. */
type Slot = { call: ToolCall; result?: ToolResultMessage };

export function callsOf(message: AgentMessage): ToolCall[] {
  return message.role === "assistant" ? message.content.filter((block) => block.type === "toolCall") : [];
}

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
    const tail = known > 0 ? pair(messages.slice(known), this.#ids) : undefined;
    if (tail?.orphans === 0) for (const message of tail.messages) this.#repaired.push(message);
    else {
      // A late result changes what was already looked at.
      this.#ids = new CallIds();
      this.#repaired = pair(messages, this.#ids).messages;
    }
    this.#seen = messages.slice();
    return this.#repaired.slice();
  }
}

function pair(messages: readonly Message[], ids: CallIds): { messages: Message[]; orphans: number } {
  const waiting = new Map<string, Slot[]>();
  let orphans = 0;
  const slots = messages.map((message) => {
    if (message.role === "assistant") return openSlots(message, ids, waiting);
    if (message.role !== "toolResult") return [];
    const slot = waiting.get(message.toolCallId)?.shift();
    if (slot) slot.result = message;
    else orphans++;
    return [];
  });
  return { messages: messages.flatMap((message, index) => shown(message, slots[index] ?? [])), orphans };
}

/** The calls of one message with ids that are free; they wait for results under the ids they had. */
function openSlots(message: AssistantMessage, ids: CallIds, waiting: Map<string, Slot[]>): Slot[] {
  const calls = callsOf(message);
  for (const { id } of calls) waiting.set(id, []);
  return calls.map((call) => {
    const id = ids.claim(call.id);
    // Providers refuse a call without a name, and one whose arguments are no object.
    const sound = id === call.id && call.name && isRecord(call.arguments);
    const args = isRecord(call.arguments) ? call.arguments : {};
    const slot: Slot = { call: sound ? call : { ...call, id, name: call.name || "unnamed", arguments: args } };
    waiting.get(call.id)?.push(slot);
    return slot;
  });
}

function shown(message: Message, slots: Slot[]): Message[] {
  if (message.role === "toolResult") return [];
  if (message.role !== "assistant") return [message];
  // Thinking alone is no answer: providers refuse such a message, or take it for one to continue.
  if (slots.length === 0) return message.content.some((block) => block.type === "text" && block.text) ? [message] : [];
  let next = 0;
  const content = message.content.map((block) => (block.type === "toolCall" ? (slots[next++]?.call ?? block) : block));
  const same = content.every((block, index) => block === message.content[index]);
  return [same ? message : { ...message, content }, ...slots.map((slot) => resultOf(slot, message.timestamp))];
}

function resultOf({ call: { id, name }, result }: Slot, timestamp: number): ToolResultMessage {
  if (result)
    return result.toolCallId === id && result.toolName === name
      ? result
      : { ...result, toolCallId: id, toolName: name };
  const text = "There is no result of this call: the session was interrupted. It may have run in part.";
  return {
    role: "toolResult",
    toolCallId: id,
    toolName: name,
    content: [{ type: "text", text }],
    isError: true,
    timestamp,
  };
}
