import type { AgentMessage } from "@tau/agent";
import type { ImageContent, UserMessage } from "@tau/llm";

/** What a user says: text, or a message that is made already. */
export type UserInput = string | UserMessage;

/**
 * The message of a prompt. Its content is always a list of blocks: other readers of session files expect one.
 * @param timestamp Unix time in milliseconds, for a text
 */
export function userMessage(input: UserInput, images: readonly ImageContent[], timestamp: number): UserMessage {
  const message: UserMessage = typeof input === "string" ? { role: "user", content: input, timestamp } : input;
  const { content } = message;
  if (typeof content !== "string" && images.length === 0) return message;
  const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  return { ...message, content: [...blocks, ...images] };
}

/** Nothing was said: white space is not text, and providers refuse it. */
export function isEmptyMessage({ content }: UserMessage): boolean {
  if (typeof content === "string") return content.trim() === "";
  return content.every((block) => block.type === "text" && block.text.trim() === "");
}

/** The text of a message as a queue or an editor shows it; images are left out. */
export function messageText(message: AgentMessage): string {
  if (!("content" in message)) return "";
  const { content } = message;
  if (typeof content === "string") return content;
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
