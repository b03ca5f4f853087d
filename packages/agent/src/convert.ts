import type { ImageContent, Message, UserMessage } from "@tau/llm";
import type { AgentMessage } from "./messages.ts";
import { detach, isRecord, kindOf } from "./values.ts";

/** What was converted once stays the same object in later requests (laws O1, O3). */
const converted = new WeakMap<AgentMessage, UserMessage>();
const PLAIN: ReadonlySet<string> = new Set<Message["role"]>(["user", "assistant", "toolResult", "system"]);
const isPlain = (message: AgentMessage): message is Message => PLAIN.has(message.role);
const isMessage = (value: unknown): value is AgentMessage =>
  isRecord(value) &&
  typeof value.role === "string" &&
  (typeof value.content === "string" || Array.isArray(value.content) || !PLAIN.has(value.role));

/**
 * The loop's own copy of what a caller gave: the caller may keep changing the original. A text becomes a user message.
 * @throws TypeError for anything that is neither a text nor a message, or cannot be copied
 */
export function ownMessage(
  given: string | AgentMessage,
  { now, images = [] }: { now: () => number; images?: ImageContent[] | undefined },
): AgentMessage {
  const content = images.length > 0 ? [{ type: "text", text: given }, ...images] : given;
  return soundMessage(detach(typeof given === "string" ? { role: "user", content, timestamp: now() } : given));
}

/** @throws TypeError for anything that is not a message */
export function soundMessage(given: unknown): AgentMessage {
  if (isMessage(given)) return given;
  const received = isRecord(given) ? "an object without a role or its content" : kindOf(given);
  throw new TypeError(`Expected a text or a message such as {role: "user", content: "…"}, received ${received}.`);
}

/** The default `convertToLlm`: commands, summaries and custom messages become user messages, unknown roles are left out. */
export function defaultConvertToLlm(messages: AgentMessage[]): Message[] {
  if (messages.every(isPlain)) return messages;
  return messages.flatMap((message) =>
    isPlain(message) ? message : (converted.get(message) ?? convert(message) ?? []),
  );
}

function convert(message: AgentMessage): UserMessage | undefined {
  const content = contentOf(message);
  const user = content === undefined ? content : { role: "user" as const, content, timestamp: message.timestamp };
  if (user) converted.set(message, user);
  return user;
}

function contentOf(message: AgentMessage): UserMessage["content"] | undefined {
  if (message.role === "custom") return message.content;
  if (message.role === "compactionSummary") return `<summary>\nWhat happened before:\n\n${message.summary}\n</summary>`;
  if (message.role === "branchSummary")
    return `<summary>\nA line of work that was left:\n\n${message.summary}\n</summary>`;
  if (message.role !== "bashExecution" || message.excludeFromContext) return undefined;
  const { command, output, exitCode, cancelled, truncated, fullOutputPath } = message;
  const end = cancelled ? "\nIt was cancelled." : exitCode ? `\nIt ended with exit code ${exitCode}.` : "";
  const cut = truncated ? `\nThe output is cut; all of it: ${fullOutputPath ?? "not kept"}.` : "";
  return `The user ran \`${command}\`. It printed${output ? `:\n\`\`\`\n${output}\n\`\`\`` : " nothing."}${end}${cut}`;
}
