import type { Message } from "../../protocol/message.ts";
import { encodeJson } from "../../stream/json.ts";

/** Messages that follow each other, as they are sent. */
export interface Segment extends SegmentBytes {
  messages: readonly Message[];
}

export interface SegmentBytes {
  /** A comma before each item and its JSON text, in UTF-8; empty when no message has anything for the model. */
  wire: Uint8Array;
  /** Bytes of it, images not counted. */
  bytes: number;
  /** Role of the last message that is sent. */
  role: Message["role"] | undefined;
  /** The images of the results are at its end: no further result may follow. */
  closed: boolean;
}

/** How an API says messages. `key`: what their form depends on, besides the messages. */
export interface SegmentStyle {
  key: string;
  encode: (messages: readonly Message[], before: Message["role"] | undefined) => SegmentBytes;
}

/** By the first message: what a conversation was at its last request. Messages do not change once they are in a transcript. */
export type SegmentMemory = WeakMap<Message, { key: string; segments: readonly Segment[] }>;

// Few parts to send in each request, and little that is garbage at once while a long history is encoded.
const SEGMENT_MESSAGES = 256;

/**
 * The conversation in segments. Each message is encoded once (O1): a later request sends the bytes of the one before
 * as far as they are the same messages. One text for many messages takes half the time and a third of the memory of
 * one for each; bytes outside of the heap are moved by no garbage collection.
 */
export function encodeSegments(
  memory: SegmentMemory,
  messages: readonly Message[],
  { key, encode }: SegmentStyle,
): readonly Segment[] {
  const [first] = messages;
  if (!first) return [];
  const before = memory.get(first);
  const segments = before?.key === key ? commonSegments(before.segments, messages) : [];
  let from = segments.reduce((sum, segment) => sum + segment.messages.length, 0);
  while (from < messages.length) {
    const part = messages.slice(from, segmentEnd(messages, from));
    addSegment(segments, { messages: part, ...encode(part, segments.at(-1)?.role) });
    from += part.length;
  }
  memory.set(first, { key, segments });
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

const NOTHING = new Uint8Array();
const COMMA = 0x2c;

/** Items as they stand in a segment. */
export function wireOf(values: readonly unknown[]): Uint8Array {
  if (values.length === 0) return NOTHING;
  const list = Buffer.from(encodeJson(values));
  list[0] = COMMA;
  return list.subarray(0, -1);
}

/** The parts of a list whose brackets the caller writes. @param first whether nothing stands before them in it */
export function listParts(segments: readonly Segment[], first: boolean): Uint8Array[] {
  const parts = segments.map(({ wire }) => wire).filter((wire) => wire.length > 0);
  const [begin] = parts;
  if (first && begin) parts[0] = begin.subarray(1);
  return parts;
}
