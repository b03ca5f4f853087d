import type { SessionEvent } from "../session/events/session-event.ts";

/** What makes a line of the JSON stream: any plain object with a type. */
export type WireRecord = { readonly type: string } & Readonly<Record<string, unknown>>;

/**
 * An event as it goes over a wire (DESIGN, "Events on a wire"): without the message so far, which would make a
 * stream of n deltas cost n². The usage so far stays, as pi's readers expect it.
 */
export function toWire(event: SessionEvent): WireRecord {
  if (event.type !== "message_update") return { ...event };
  const { partial: _partial, ...delta } = { partial: undefined, ...event.assistantMessageEvent };
  // Pi calls the name of a starting call toolName.
  const named = delta.type === "toolcall_start" ? { ...delta, toolName: delta.name } : delta;
  return { type: "message_update", usage: event.message.usage, assistantMessageEvent: named };
}

/** Characters that some readers take for line ends although JSON does not escape them (R174). */
const LINE_BREAKERS = /[\u0085\u2028\u2029]/g;

/** JSON text with nothing in it that any reader could take for the end of a line. */
export function escapeLineBreaks(json: string): string {
  return json.replace(LINE_BREAKERS, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** One record as one line, LF included. */
export function encodeLine(record: WireRecord): string {
  return `${escapeLineBreaks(JSON.stringify(record))}\n`;
}
