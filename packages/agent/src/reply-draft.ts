import type { AssistantContent, AssistantMessage, AssistantMessageEvent, ToolCall } from "@tau/llm";
import type { CallIds } from "./calls.ts";
import { isRecord } from "./values.ts";

/** What a stream tells before its end (law S1). */
export type Update = Exclude<AssistantMessageEvent, { type: "done" | "error" }>;
export type Delta = Extract<Update, { delta: string }>;
const OF_BLOCK = /^(text|thinking|toolcall)_(start|delta|end)$/;
const EMPTY_CALL: ToolCall = { type: "toolCall", id: "", name: "", arguments: {} };
/** An index beyond that is junk, unless so many blocks have come. */
const LAST_BLOCK = 9999;

export const isDelta = (event: Update | undefined): event is Delta => event !== undefined && "delta" in event;

export const isUpdate = (event: AssistantMessageEvent): event is Update =>
  "contentIndex" in event ? OF_BLOCK.test(event.type) && Number.isInteger(event.contentIndex) : event.type === "start";

/**
 * The reply so far, in objects of our own: a provider may change its message and give it again, or give deltas alone
 * (laws S4, S5). A step copies the list of blocks, and the blocks that changed. A list that is computed when someone
 * looks stays so: copying it at each step would be quadratic in the blocks of a reply (report R305).
 */
export class Draft {
  /** Never changed: each step makes a new one. */
  message: AssistantMessage;
  /** Final ids of calls by contentIndex (C10). */
  readonly ids = new Map<number, string>();
  readonly #blank: AssistantMessage;
  readonly #known: CallIds;
  /** The provider's blocks that ours are copies of. */
  #given: readonly unknown[] = [];

  /** @param blank a reply of nothing so far */
  constructor(blank: AssistantMessage, known: CallIds) {
    this.message = blank;
    this.#blank = blank;
    this.#known = known;
  }

  /** The event with the message so far, and calls under their final ids. */
  take(event: Update): Update {
    return isComputed(event.partial, "content") ? this.#takeComputed(event) : this.#takeCopy(event);
  }

  #takeComputed(event: Update): Update {
    if (event.type === "start") return { ...event, partial: this.#computed(event.partial) };
    const at = event.contentIndex;
    if (event.type === "toolcall_start") this.#idOf(event.id, at);
    const partial = this.#computed(event.partial);
    const update = { ...event, partial };
    if (update.type === "toolcall_start") update.id = this.ids.get(at) ?? update.id;
    if (update.type === "toolcall_end") update.toolCall = ownCall(update.toolCall, this.#idOf(update.toolCall.id, at));
    return update;
  }

  /** The message with the list of the given one, which is asked for it once, when someone looks. */
  #computed(given: AssistantMessage): AssistantMessage {
    let content: AssistantContent[] | undefined;
    const look = () => {
      content ??= given.content.map((block, index) => this.#own(block, index));
      return content;
    };
    const fields = Object.getOwnPropertyDescriptors(given);
    const lazy = { enumerable: true, configurable: true, get: look };
    this.message = Object.defineProperties({ ...this.#blank }, { ...fields, content: lazy });
    // What comes next by other means is compared with nothing of this.
    this.#given = [];
    return this.message;
  }

  #takeCopy(event: Update): Update {
    const given = Array.isArray(event.partial?.content) ? event.partial : { ...this.message, content: [] };
    const content = this.message.content.slice();
    const at = event.type === "start" ? -1 : this.#place(event.contentIndex);
    for (const [index, block] of given.content.entries())
      if (index === at || block !== this.#given[index]) content[index] = this.#own(block, index);
    this.#given = given.content.slice();
    while (content.length < at) content.push({ type: "text", text: "" });
    const brings = event.type === "toolcall_end" || (at >= 0 && !given.content[at]);
    if (brings) content[at] = this.#own(grown(content[at], event), at);
    const usage = isRecord(given.usage) ? { ...given.usage, cost: { ...given.usage.cost } } : this.message.usage;
    this.message = { ...given, role: "assistant", usage, content };
    const update = { ...event, partial: this.message };
    if (update.type === "toolcall_start") update.id = this.ids.get(at) ?? update.id;
    const call = content[at];
    if (update.type === "toolcall_end" && call?.type === "toolCall") update.toolCall = call;
    return update;
  }

  #place(contentIndex: number): number {
    return Math.max(0, Math.min(contentIndex, Math.max(LAST_BLOCK, this.message.content.length)));
  }

  #own(block: AssistantContent, at: number): AssistantContent {
    return block?.type === "toolCall" ? ownCall(block, this.#idOf(block.id, at)) : { ...block };
  }

  /** The final id of the call at a place, claimed when it is first seen. */
  #idOf(given: string, at: number): string {
    const id = this.ids.get(at) ?? this.#known.claim(given);
    this.ids.set(at, id);
    return id;
  }
}

/** Whether a field is worked out at each look, so that looking at it costs more than having it. */
function isComputed(value: object | undefined, name: string): boolean {
  return isRecord(value) && Object.getOwnPropertyDescriptor(value, name)?.get !== undefined;
}

/**
 * A copy of a call. Arguments that are computed when someone looks stay so: a look at each delta would read the whole
 * text again and again (S5).
 */
function ownCall(call: ToolCall, id: string): ToolCall {
  if (!isComputed(call, "arguments"))
    return { ...call, id, arguments: isRecord(call.arguments) ? { ...call.arguments } : call.arguments };
  if (call.id === id) return call;
  const lazy = { enumerable: true, get: () => call.arguments };
  const fields = { ...Object.getOwnPropertyDescriptors(call), id: { enumerable: true, value: id }, arguments: lazy };
  return Object.defineProperties({ ...EMPTY_CALL }, fields);
}

/** A block after an event that came without it. */
function grown(block: AssistantContent | undefined, event: Update): AssistantContent {
  const { id, name } = event.type === "toolcall_start" ? event : { id: "", name: "" };
  if (event.type === "toolcall_end") return event.toolCall;
  if (event.type === "toolcall_delta" && block) return block;
  if (event.type.startsWith("toolcall")) return { type: "toolCall", id, name, arguments: {} };
  const before = block?.type === "text" ? block.text : block?.type === "thinking" ? block.thinking : "";
  const text = isDelta(event) ? before + event.delta : ("content" in event && event.content) || before;
  return event.type.startsWith("text") ? { type: "text", text } : { type: "thinking", thinking: text };
}
