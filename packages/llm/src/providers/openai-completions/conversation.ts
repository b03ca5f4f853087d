import type { Message } from "../../protocol/message.ts";
import { encodeJson, isRecord } from "../../stream/json.ts";
import { imageParts, type MessageStyle, wireValue } from "./encode-message.ts";

/** Messages that follow each other, as they are sent. */
export interface Segment {
  messages: readonly Message[];
  /** A comma before each message and its JSON text, in UTF-8; empty when no message has anything for the model. */
  wire: Uint8Array;
  /** Bytes of it, images not counted. */
  bytes: number;
  /** Role of the last message that is sent. */
  role: Message["role"] | undefined;
  /** The images of the results are at its end: no further result may follow. */
  closed: boolean;
}

// Few parts to send in each request, and little that is garbage at once while a long history is encoded.
const SEGMENT_MESSAGES = 256;

// By the first message: what a conversation was at its last request. Messages do not change once they are in a transcript.
const known = new WeakMap<Message, { key: string; segments: readonly Segment[] }>();

/**
 * The conversation in segments. Each message is encoded once (O1): a later request sends the bytes of the one before
 * as far as they are the same messages. One text for many messages takes half the time and a third of the memory of
 * one for each; bytes outside of the heap are moved by no garbage collection.
 */
export function encodeConversation(messages: readonly Message[], style: MessageStyle): readonly Segment[] {
  const [first] = messages;
  if (!first) return [];
  const before = known.get(first);
  const segments = before?.key === style.key ? commonSegments(before.segments, messages) : [];
  let from = segments.reduce((sum, segment) => sum + segment.messages.length, 0);
  while (from < messages.length) {
    const to = segmentEnd(messages, from);
    addSegment(segments, encodeSegment(messages.slice(from, to), segments.at(-1)?.role, style));
    from = to;
  }
  known.set(first, { key: style.key, segments });
  return segments;
}

function commonSegments(segments: readonly Segment[], messages: readonly Message[]): Segment[] {
  let from = 0;
  const changed = segments.findIndex((segment) => {
    const at = from;
    from += segment.messages.length;
    const cutsBatch = segment.closed && messages[from]?.role === "toolResult";
    return cutsBatch || !segment.messages.every((message, index) => message === messages[at + index]);
  });
  return changed < 0 ? segments.slice() : segments.slice(0, changed);
}

/** Turns come by twos and threes of messages: neighbours of one size become one, so that there are few for many. */
function addSegment(segments: Segment[], added: Segment): void {
  const before = segments.at(-1);
  const merges = before && before.messages.length <= added.messages.length && added.messages.length < SEGMENT_MESSAGES;
  if (!merges) {
    segments.push(added);
    return;
  }
  segments.pop();
  addSegment(segments, {
    messages: [...before.messages, ...added.messages],
    wire: Buffer.concat([before.wire, added.wire]),
    bytes: before.bytes + added.bytes,
    role: added.role ?? before.role,
    closed: added.closed,
  });
}

/** A batch of results is not divided. */
function segmentEnd(messages: readonly Message[], from: number): number {
  let end = from + SEGMENT_MESSAGES;
  while (messages[end]?.role === "toolResult") end++;
  return end;
}

const BRIDGE = { role: "assistant", content: "I have read the results." };

/** Images of tool results follow the whole batch, which must not be interrupted. */
function encodeSegment(messages: readonly Message[], before: Segment["role"], style: MessageStyle): Segment {
  const values: Record<string, unknown>[] = [];
  let images: unknown[] = [];
  let role = before;
  const flush = () => {
    if (images.length > 0) values.push(imagesValue(images));
    images = [];
  };
  for (const message of messages) {
    const value = wireValue(message, style);
    if (!value) continue;
    if (message.role === "toolResult") images.push(...imageParts(message.content));
    else flush();
    if (role === "toolResult" && message.role === "user" && style.traits.assistantAfterToolResult) values.push(BRIDGE);
    role = message.role;
    values.push(value);
  }
  const closed = images.length > 0;
  flush();
  const wire = values.length > 0 ? wireOf(values) : NOTHING;
  return { messages, wire, bytes: wire.length - imageBytes(values), role, closed };
}

const NOTHING = new Uint8Array();
const COMMA = 0x2c;

/** Messages as they stand in a segment. */
export function wireOf(values: readonly unknown[]): Uint8Array {
  const list = Buffer.from(encodeJson(values));
  list[0] = COMMA;
  return list.subarray(0, -1);
}

function imagesValue(images: readonly unknown[]): Record<string, unknown> {
  return { role: "user", content: [{ type: "text", text: "Images from the tool results:" }, ...images] };
}

/** Bytes of the images in the JSON text of messages. */
function imageBytes(values: readonly Record<string, unknown>[]): number {
  let bytes = 0;
  for (const { content } of values) {
    if (!Array.isArray(content)) continue;
    const images = content.filter((part) => isRecord(part) && part.type === "image_url");
    if (images.length > 0) bytes += JSON.stringify(images).length;
  }
  return bytes;
}

const sizes = new WeakMap<Message, number>();

/** UTF-8 bytes of one message, images not counted. */
export function messageBytes(message: Message, style: MessageStyle): number {
  const before = sizes.get(message);
  if (before !== undefined) return before;
  const { bytes } = encodeSegment([message], undefined, style);
  sizes.set(message, bytes);
  return bytes;
}
