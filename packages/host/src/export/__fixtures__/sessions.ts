import type { AssistantContent, AssistantMessage, ToolResultMessage } from "@tau/llm";
import type { Entry, EntryDraft } from "../../store/entries.ts";
import { createMemoryStore } from "../../store/open-session.ts";
import type { SessionStore } from "../../store/session-store.ts";

const START = Date.parse("2026-03-04T09:00:00Z");

/** A session in memory with entry ids n0, n1, … and a minute between entries. */
export function memorySession(cwd = "/home/mia/shop"): SessionStore {
  let entries = 0;
  let time = START;
  return createMemoryStore({
    cwd,
    id: "session-1",
    now: () => {
      time += 60_000;
      return time;
    },
    newId: () => `n${entries++}`,
  });
}

export function say(store: SessionStore, content: string | EntryDraftContent): Entry {
  return store.append({ type: "message", message: { role: "user", content, timestamp: START } });
}

type EntryDraftContent = Extract<Extract<EntryDraft, { type: "message" }>["message"], { role: "user" }>["content"];

export function reply(
  store: SessionStore,
  content: string | AssistantContent[],
  more: Partial<AssistantMessage> = {},
): Entry {
  const cost = { input: 0.001, output: 0.002, cacheRead: 0, cacheWrite: 0, total: 0.003 };
  const message: AssistantMessage = {
    role: "assistant",
    content: typeof content === "string" ? [{ type: "text", text: content }] : content,
    api: "scripted",
    provider: "mock",
    model: "m1",
    usage: { input: 100, output: 50, cacheRead: 300, cacheWrite: 0, totalTokens: 450, cost },
    stopReason: "stop",
    timestamp: START,
    ...more,
  };
  return store.append({ type: "message", message });
}

export function toolCall(id: string, name: string, args: Record<string, unknown>): AssistantContent {
  return { type: "toolCall", id, name, arguments: args };
}

export function answer(store: SessionStore, id: string, text: string, more: Partial<ToolResultMessage> = {}): Entry {
  const message: ToolResultMessage = {
    role: "toolResult",
    toolCallId: id,
    toolName: "bash",
    content: [{ type: "text", text }],
    isError: false,
    timestamp: START,
    ...more,
  };
  return store.append({ type: "message", message });
}

/** The whole text of an export. */
export const whole = (pieces: Iterable<string>): string => [...pieces].join("");
