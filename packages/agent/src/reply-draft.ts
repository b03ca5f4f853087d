import type { AssistantContent, AssistantMessage, AssistantMessageEvent, ToolCall } from "@tau/llm";
import type { CallIds } from "./calls.ts";
import { isRecord } from "./values.ts";

/** What a stream says before its end (law S1). */
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
 * (laws S4, S5). A step copies the list of blocks, and the blocks that changed; but a list that is worked out when
 * someone looks is never changed, and stays what it is: copies of it would be quadratic in its blocks (report R305).
 */
export class Draft {
  /** Never changed: each step makes a new one. */
  message: AssistantMessage;
  /** Final ids of calls by contentIndex (C10). */
  readonly ids = new Map<number, string>();
  readonly #known: CallIds;
  /** The provider's blocks that ours are copies of. */
  #given: readonly unknown[] = [];
  #keepsIds = true;

  /** @param empty a reply of nothing so far */
  constructor(empty: AssistantMessage, known: CallIds) {
    this.message = empty;
    this.#known = known;
  }

  /** The event with the message so far, and calls under their final ids. */
  take(event: Update): Update {
    if (isRecord(event.partial) && isWorkedOut(event.partial, "content") && this.#keeps(event)) {
      this.message = event.partial;
      this.#given = [];
      return event;
    }
    const given = Array.isArray(event.partial?.content) ? event.partial : { ...this.message, content: [] };
    const content = this.message.content.slice();
    const at =
      event.type === "start" ? -1 : Math.max(0, Math.min(event.contentIndex, Math.max(LAST_BLOCK, content.length)));
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

  #own(block: AssistantContent, at: number): AssistantContent {
    if (block?.type !== "toolCall") return { ...block };
    return ownCall(block, this.#idOf(block, at));
  }

  #idOf({ id }: { id: string }, at: number): string {
    if (!this.ids.has(at)) this.ids.set(at, this.#known.claim(id));
    return this.ids.get(at) ?? id;
  }

  /** Whether each call so far has the id that its provider gave it. */
  #keeps(event: Update): boolean {
    if (event.type === "toolcall_start") this.#keepsIds &&= this.#idOf(event, event.contentIndex) === event.id;
    return this.#keepsIds;
  }
}

const isWorkedOut = (value: object, name: string) => Object.getOwnPropertyDescriptor(value, name)?.get !== undefined;

/**
 * A copy of a call. Arguments that are computed when someone looks stay so: a look at each delta would read the whole
 * text again and again (S5).
 */
function ownCall(call: ToolCall, id: string): ToolCall {
  if (!isWorkedOut(call, "arguments"))
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
