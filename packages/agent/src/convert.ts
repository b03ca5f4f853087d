import type { Message, UserMessage } from "@tau/llm";
import type { AgentMessage, BashExecutionMessage } from "./messages.ts";

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
  switch (message.role) {
    case "user":
    case "assistant":
    case "toolResult":
    case "system":
      return message;
    case "bashExecution":
      return message.excludeFromContext ? undefined : asUser(message, commandText(message));
    case "compactionSummary":
      return asUser(message, `<summary>\nWhat happened before, in short:\n\n${message.summary}\n</summary>`);
    case "branchSummary":
      return asUser(message, `<summary>\nA line of work that was left, in short:\n\n${message.summary}\n</summary>`);
    case "custom":
      return asUser(message, message.content);
    default:
      return undefined;
  }
}

function asUser(message: AgentMessage, content: UserMessage["content"]): UserMessage {
  const user: UserMessage = { role: "user", content, timestamp: message.timestamp };
  converted.set(message, user);
  return user;
}

function commandText({
  command,
  output,
  exitCode,
  cancelled,
  truncated,
  fullOutputPath,
}: BashExecutionMessage): string {
  const end = cancelled ? "\nIt was cancelled." : exitCode ? `\nIt ended with exit code ${exitCode}.` : "";
  const cut = truncated ? `\nThe output is cut; all of it: ${fullOutputPath ?? "not kept"}.` : "";
  return `The user ran \`${command}\`. It printed${output ? `:\n\`\`\`\n${output}\n\`\`\`` : " nothing."}${end}${cut}`;
}
