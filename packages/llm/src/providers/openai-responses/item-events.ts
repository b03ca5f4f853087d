import { isRecord } from "../../stream/json.ts";
import { partText } from "./output-item.ts";
import type { OutputItems } from "./output-items.ts";

type Json = Record<string, unknown>;
type Apply = (items: OutputItems, event: Json) => void;

/** What an event of an item does, by its type; undefined for a type from which nothing is wanted. */
export function itemEvent(type: string): Apply | undefined {
  return Object.hasOwn(ITEM_EVENTS, type) ? ITEM_EVENTS[type] : undefined;
}

const ITEM_EVENTS: Readonly<Record<string, Apply>> = {
  "response.output_item.added": (items, event) => {
    if (isRecord(event.item)) items.added(event.item, event.output_index);
  },
  "response.output_item.done": (items, event) => {
    if (isRecord(event.item)) items.done(event.item, event.output_index);
  },
  "response.output_text.delta": messageDelta,
  "response.refusal.delta": messageDelta,
  "response.output_text.done": messagePart,
  "response.refusal.done": messagePart,
  "response.reasoning_summary_text.delta": reasoningDelta("summary", "summary_index"),
  "response.reasoning_summary_text.done": reasoningPart("summary", "summary_index"),
  "response.reasoning_text.delta": reasoningDelta("content", "content_index"),
  "response.reasoning_text.done": reasoningPart("content", "content_index"),
  // Older names, which some compatible servers keep.
  "response.reasoning_summary.delta": reasoningDelta("summary", "summary_index"),
  "response.reasoning.delta": reasoningDelta("content", "content_index"),
  "response.function_call_arguments.delta": (items, event) => {
    const item = items.of("function_call", event);
    if (item.kind === "function_call") item.delta(textOf(event.delta));
  },
  "response.function_call_arguments.done": (items, event) => {
    const item = items.of("function_call", event);
    if (item.kind === "function_call") item.done(event);
  },
};

function messageDelta(items: OutputItems, event: Json): void {
  const item = items.of("message", event);
  if (item.kind === "message") item.delta(textOf(event.delta));
}

function messagePart(items: OutputItems, event: Json): void {
  const item = items.of("message", event);
  if (item.kind === "message") item.part(partText(event));
}

function reasoningDelta(source: "summary" | "content", index: string): Apply {
  return (items, event) => {
    const item = items.of("reasoning", event);
    if (item.kind === "reasoning") item.delta(source, textOf(event.delta), event[index]);
  };
}

function reasoningPart(source: "summary" | "content", index: string): Apply {
  return (items, event) => {
    const item = items.of("reasoning", event);
    if (item.kind === "reasoning") item.part(source, partText(event), event[index]);
  };
}

/** The text of a delta; of older events it is an object. */
function textOf(delta: unknown): string {
  return typeof delta === "string" ? delta : partText(delta);
}
