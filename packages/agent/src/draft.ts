import type { AssistantContent, AssistantMessage, AssistantMessageEvent, Model, ToolCall } from "@tau/llm";
import type { CallIds } from "./repair.ts";
import { blankReply } from "./sound-reply.ts";
import { isRecord } from "./values.ts";

/** What a stream tells before its end (law S1). */
export type Update = Exclude<AssistantMessageEvent, { type: "done" | "error" }>;
export type Delta = Extract<Update, { delta: string }>;
const OF_BLOCK = /^(text|thinking|toolcall)_(start|delta|end)$/;
/** An index beyond that is junk. */
const LAST_BLOCK = 9999;

export const isDelta = (event: Update | undefined): event is Delta => event !== undefined && "delta" in event;

export const isUpdate = (event: AssistantMessageEvent): event is Update =>
  "contentIndex" in event ? OF_BLOCK.test(event.type) && Number.isInteger(event.contentIndex) : event.type === "start";

/**
 * The reply so far, in objects of our own: a provider may change its message and give it again, or give deltas alone
 * (laws S4, S5). A step copies the list of blocks and the one block that it is about.
 */
export class Draft {
  /** Never changed: each step makes a new one. */
  message: AssistantMessage;
  /** Final ids of calls by contentIndex (C10). */
  readonly ids = new Map<number, string>();
  readonly #known: CallIds;

  constructor(model: Model, known: CallIds) {
    this.message = blankReply(model);
    this.#known = known;
  }

  /** The event with the message so far, and calls under their final ids. */
  take(event: Update): Update {
    const given = Array.isArray(event.partial?.content) ? event.partial : { ...this.message, content: [] };
    const content = this.message.content.slice();
    const at = event.type === "start" ? -1 : Math.max(0, Math.min(event.contentIndex, LAST_BLOCK));
    while (content.length < Math.max(given.content.length, at))
      content.push(this.#own(given.content[content.length], content.length));
    if (event.type !== "start") content[at] = this.#own(given.content[at] ?? grown(content[at], event), at);
    const usage = isRecord(given.usage) ? { ...given.usage, cost: { ...given.usage.cost } } : this.message.usage;
    this.message = { ...given, role: "assistant", usage, content };
    const update = { ...event, partial: this.message };
    if (update.type === "toolcall_start") update.id = this.ids.get(at) ?? update.id;
    if (update.type === "toolcall_end") update.toolCall = this.#ownCall(update.toolCall, at);
    return update;
  }

  #own(block: AssistantContent = { type: "text", text: "" }, at: number): AssistantContent {
    return block.type === "toolCall" ? this.#ownCall(block, at) : { ...block };
  }

  #ownCall(call: ToolCall, at: number): ToolCall {
    const id = this.ids.get(at) ?? this.#known.claim(call.id);
    this.ids.set(at, id);
    const args = isRecord(call.arguments) ? { ...call.arguments } : call.arguments;
    return { ...call, id, arguments: args };
  }
}

/** A block after an event that came without a message. */
function grown(block: AssistantContent | undefined, event: Exclude<Update, { type: "start" }>): AssistantContent {
  const call = { type: "toolCall" as const, id: "", name: "", arguments: {} };
  if (event.type === "toolcall_start") return { ...call, id: event.id, name: event.name };
  if (event.type === "toolcall_end") return event.toolCall;
  if (event.type === "toolcall_delta") return block ?? call;
  const before = block?.type === "text" ? block.text : block?.type === "thinking" ? block.thinking : "";
  const text = isDelta(event) ? before + event.delta : ("content" in event && event.content) || before;
  return event.type.startsWith("text") ? { type: "text", text } : { type: "thinking", thinking: text };
}
