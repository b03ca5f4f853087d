import type { Message, UserMessage } from "@tau/llm";
import type { AgentMessage } from "./messages.ts";

/** What was converted once stays the same object in later requests (laws O1, O3). */
const converted = new WeakMap<AgentMessage, UserMessage>();
const PLAIN: ReadonlySet<string> = new Set<Message["role"]>(["user", "assistant", "toolResult", "system"]);
const isPlain = (message: AgentMessage): message is Message => PLAIN.has(message.role);

/** The default `convertToLlm` (law B2): commands, summaries and custom messages become user messages, unknown roles are left out. */
export function defaultConvertToLlm(messages: AgentMessage[]): Message[] {
  if (messages.every(isPlain)) return messages;
  const result: Message[] = [];
  for (const message of messages) {
    const shown = isPlain(message) ? message : (converted.get(message) ?? convert(message));
    if (shown) result.push(shown);
  }
  return result;
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
