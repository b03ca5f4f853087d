import type { Message } from "../../protocol/message.ts";
import { isRecord } from "../../stream/json.ts";
import { encodeSegments, type Segment, type SegmentBytes, type SegmentMemory, wireOf } from "../history/segments.ts";
import { imageParts, type MessageStyle, wireValue } from "./encode-message.ts";

const memory: SegmentMemory = new WeakMap();

/** The conversation as messages of this API. */
export function encodeConversation(messages: readonly Message[], style: MessageStyle): readonly Segment[] {
  return encodeSegments(memory, messages, {
    key: style.key,
    encode: (part, before) => encodePart(part, before, style),
  });
}

const BRIDGE = { role: "assistant", content: "I have read the results." };

/** Images of tool results follow the whole batch, which must not be interrupted. */
function encodePart(messages: readonly Message[], before: SegmentBytes["role"], style: MessageStyle): SegmentBytes {
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
  const wire = wireOf(values);
  return { wire, bytes: wire.length - imageBytes(values), role, closed };
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
  const { bytes } = encodePart([message], undefined, style);
  sizes.set(message, bytes);
  return bytes;
}
