import { readFileSync } from "node:fs";
import type { AssistantContent, ToolCall } from "@tau/llm";
import type { EntryDraft } from "../entries.ts";

const USAGE = {
  input: 1,
  output: 1,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 2,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

export function user(content: string): EntryDraft {
  return { type: "message", message: { role: "user", content, timestamp: 1 } };
}

export function assistant(text: string, ...calls: ToolCall[]): EntryDraft {
  const spoken: AssistantContent[] = text === "" ? [] : [{ type: "text", text }];
  const stopReason = calls.length > 0 ? "toolUse" : "stop";
  const source = { api: "scripted", provider: "scripted", model: "demo", usage: USAGE };
  const content = [...spoken, ...calls];
  return { type: "message", message: { role: "assistant", content, ...source, stopReason, timestamp: 2 } };
}

export function call(id: string, args: Record<string, unknown> = {}): ToolCall {
  return { type: "toolCall", id, name: "bash", arguments: args };
}

export function result(toolCallId: string, text: string): EntryDraft {
  const content = [{ type: "text" as const, text }];
  return {
    type: "message",
    message: { role: "toolResult", toolCallId, toolName: "bash", content, isError: false, timestamp: 3 },
  };
}

/** The lines of a session file, parsed. */
export function linesOf(path: string): Record<string, unknown>[] {
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  return lines.map((line): Record<string, unknown> => JSON.parse(line));
}
