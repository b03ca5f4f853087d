import type { ImageContent, UserMessage } from "@tau/llm";
import type { AgentMessage } from "./messages.ts";

export type QueueMode = "one-at-a-time" | "all";

/** Messages that wait for their place in a run (laws Q1–Q4). */
export class MessageQueue {
  mode: QueueMode;
  items: AgentMessage[] = [];

  constructor(mode: QueueMode = "one-at-a-time") {
    this.mode = mode;
  }

  /** What one poll gives (Q2). */
  take(): AgentMessage[] {
    return this.mode === "all" ? this.clear() : this.items.splice(0, 1);
  }

  /** Back to the head: these were taken and came to nothing (Q4). */
  putBack(messages: AgentMessage[]): void {
    this.items = [...messages, ...this.items];
  }

  clear(): AgentMessage[] {
    return this.items.splice(0);
  }
}

/** The user message of a text, with images behind it. */
export function userMessage(text: string, images: ImageContent[] = []): UserMessage {
  const content = images.length > 0 ? [{ type: "text" as const, text }, ...images] : text;
  return { role: "user", content, timestamp: Date.now() };
}
