import type { ToolCall, ToolResultMessage } from "@tau/llm";
import type { AgentToolResult } from "./tool.ts";
import { detach, isRecord } from "./values.ts";

/** What a call came to. `durationMs` is absent when the tool did not run. */
export interface Outcome {
  result: AgentToolResult;
  isError: boolean;
  durationMs?: number;
}

/** An error that the model is told. */
export function failed(text: string, terminate = false): Outcome {
  const result: AgentToolResult = { content: [{ type: "text", text }], details: undefined };
  if (terminate) result.terminate = true;
  return { result, isError: true };
}

export function resultMessage(call: ToolCall, { result, isError }: Outcome, timestamp: number): ToolResultMessage {
  const { content, details } = result;
  const place = { toolCallId: call.id, toolName: call.name };
  const message: ToolResultMessage = { role: "toolResult", ...place, content, isError, timestamp };
  if (details !== undefined) message.details = details;
  return message;
}

/** The loop's own copy of what a tool gave back. @throws Error when it says nothing (C8, C15) */
export function usable(given: AgentToolResult, name: string): Outcome {
  const content = blocksOf(given ?? {});
  if (!content || content.length < Math.min(1, given.content.length)) throw new Error(`${name} gave nothing usable.`);
  const result: AgentToolResult = { content, details: detach(given.details) };
  if (given.terminate === true) result.terminate = true;
  return { result, isError: given.isError === true };
}

/** Copies of those blocks that are texts or images. */
export function blocksOf({ content }: Partial<AgentToolResult>): AgentToolResult["content"] | undefined {
  return Array.isArray(content) ? content.map(detach).filter(says) : undefined;
}

const says = (block: unknown): boolean =>
  isRecord(block) && typeof (block.type === "image" ? block.data : block.text) === "string";
