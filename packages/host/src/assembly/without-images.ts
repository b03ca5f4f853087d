import type { Message, StreamFn } from "@tau/llm";

const NOTE = { type: "text", text: "[An image is left out: the setting images.blockImages is on.]" } as const;

/** A sender whose requests have no image: a note stands in the place of each (the setting `images.blockImages`). */
export function withoutImages(streamFn: StreamFn): StreamFn {
  return (model, context, options) =>
    streamFn(model, { ...context, messages: context.messages.map(withNotes) }, options);
}

function withNotes(message: Message): Message {
  if (message.role !== "user" && message.role !== "toolResult") return message;
  const { content } = message;
  if (typeof content === "string" || !content.some(({ type }) => type === "image")) return message;
  return { ...message, content: content.map((block) => (block.type === "image" ? NOTE : block)) };
}
