import type { Message } from "../../protocol/message.ts";
import { encodeSegments, type Segment, type SegmentBytes, type SegmentMemory, wireOf } from "../history/segments.ts";
import { imageParts, type MessageStyle, wireItems } from "./encode-message.ts";

const memory: SegmentMemory = new WeakMap();

/** The conversation as items of the input; `key` names the style. */
export function encodeConversation(
  messages: readonly Message[],
  style: MessageStyle & { key: string },
): readonly Segment[] {
  return encodeSegments(memory, messages, {
    key: style.key,
    encode: (part, before) => encodePart(part, before, style),
  });
}

/** Images of results that cannot be in them follow the whole batch. */
function encodePart(messages: readonly Message[], before: SegmentBytes["role"], style: MessageStyle): SegmentBytes {
  const items: unknown[] = [];
  let images: unknown[] = [];
  let role = before;
  const flush = () => {
    if (images.length > 0) items.push(imagesItem(images));
    images = [];
  };
  for (const message of messages) {
    const added = wireItems(message, style);
    if (added.length === 0) continue;
    if (message.role !== "toolResult") flush();
    else if (!style.traits.imagesInResults) images.push(...imageParts(message.content));
    role = message.role;
    items.push(...added);
  }
  const closed = images.length > 0;
  flush();
  const wire = wireOf(items);
  return { wire, bytes: wire.length - imageBytes(messages), role, closed };
}

function imagesItem(images: readonly unknown[]): Record<string, unknown> {
  return { role: "user", content: [{ type: "input_text", text: "Images from the tool results:" }, ...images] };
}

function imageBytes(messages: readonly Message[]): number {
  let bytes = 0;
  for (const { content } of messages) {
    if (typeof content === "string") continue;
    for (const block of content) if (block.type === "image") bytes += block.data.length;
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
