import type { Message, UserMessage } from "@tau/llm";
import type { AgentMessage } from "./messages.ts";

/** What was converted once stays the same object in later requests (laws O1, O3). */
const converted = new WeakMap<AgentMessage, UserMessage>();

/** The default `convertToLlm` (law B2): commands, summaries and custom messages become user messages, unknown roles are left out. */
export function defaultConvertToLlm(messages: AgentMessage[]): Message[] {
  const result: Message[] = [];
  for (const message of messages) {
    const shown = converted.get(message) ?? convert(message);
    if (shown) result.push(shown);
  }
  return result;
}

function convert(message: AgentMessage): Message | undefined {
  if (["user", "assistant", "toolResult", "system"].includes(message.role)) return message as Message;
  const content = contentOf(message);
  if (content === undefined) return undefined;
  const user: UserMessage = { role: "user", content, timestamp: message.timestamp };
  converted.set(message, user);
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
