import type { AgentMessage } from "@tau/agent";
import type { AssistantContent, ImageContent, TextContent } from "@tau/llm";

/** Characters of a tool result that the summary's writer sees: enough to know what came out (report R122). */
const RESULT_CHARS = 2_000;
const TEXT_CHARS = 16_000;
const ARGUMENT_CHARS = 1_000;

/** A message as plain text for the writer of a summary. Text, not messages: no call can be without its result there. */
export function describeMessage(message: AgentMessage): string {
  switch (message.role) {
    case "user":
      return `[User]\n${clip(contentText(message.content), TEXT_CHARS)}`;
    case "assistant":
      return message.content.map(describeBlock).filter(Boolean).join("\n");
    case "toolResult":
      return `[Result of ${message.toolName}${message.isError ? ", failed" : ""}]\n${clip(contentText(message.content), RESULT_CHARS)}`;
    case "bashExecution":
      return `[User ran] ${clip(message.command, ARGUMENT_CHARS)}\n${clip(message.output, RESULT_CHARS)}`;
    case "custom":
      return `[Note: ${message.customType}]\n${clip(contentText(message.content), TEXT_CHARS)}`;
    case "branchSummary":
      return `[Summary of a branch that was left]\n${clip(message.summary, TEXT_CHARS)}`;
    default:
      return ""; // an older summary is given as such; system messages stay in the head
  }
}

function describeBlock(block: AssistantContent): string {
  if (block.type === "text") return block.text.trim() ? `[Assistant]\n${clip(block.text, TEXT_CHARS)}` : "";
  if (block.type === "thinking")
    return block.thinking.trim() ? `[Assistant thought]\n${clip(block.thinking, RESULT_CHARS)}` : "";
  return `[Assistant called ${block.name}] ${clip(JSON.stringify(block.arguments), ARGUMENT_CHARS)}`;
}

/** The text of a message's content; images as a word. */
export function contentText(content: string | readonly (TextContent | ImageContent)[]): string {
  if (typeof content === "string") return content;
  return content.map((block) => (block.type === "text" ? block.text : `[image ${block.mimeType}]`)).join("\n");
}

/** Keeps head and tail of a text that is too long, and says how much is missing. */
export function clip(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = text.slice(0, Math.floor(limit * 0.7)).toWellFormed();
  const tail = text.slice(text.length - Math.floor(limit * 0.3)).toWellFormed();
  return `${head}\n[... ${text.length - limit} characters left out ...]\n${tail}`;
}
