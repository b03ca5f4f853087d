import type { AssistantMessage, Message, ToolCall, ToolResultMessage } from "@tau/llm";
import { CallIds, callsOf, hasText } from "./calls.ts";
import { isRecord } from "./values.ts";

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
      // Thinking alone is not an answer: providers refuse such a message, or take it for one to continue.
      if (calls.length > 0 || hasText(message)) paired.push(withCalls(message, calls, sound));
      for (const { id } of calls) waiting.set(id, []);
      for (const [index, call] of sound.entries())
        waiting.get(calls[index]?.id ?? "")?.push({ call, at: paired.push(missing(call, message)) - 1 });
    }
  }
  return orphans;
}

/** Providers refuse a call without a name, and one whose arguments are not an object. */
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
