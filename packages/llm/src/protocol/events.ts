import type { AssistantMessage, ToolCall } from "./message.ts";

/**
 * What a model's answer looks like while it arrives, as it goes over a wire: plain JSON without the
 * cumulative message. Blocks may interleave; `contentIndex` says which one an event belongs to.
 */
export type WireEvent =
  | { type: "start" }
  | { type: "text_start"; contentIndex: number }
  | { type: "text_delta"; contentIndex: number; delta: string }
  | { type: "text_end"; contentIndex: number; content: string }
  | { type: "thinking_start"; contentIndex: number }
  | { type: "thinking_delta"; contentIndex: number; delta: string }
  | { type: "thinking_end"; contentIndex: number; content: string }
  | { type: "toolcall_start"; contentIndex: number; id: string; name: string }
  | { type: "toolcall_delta"; contentIndex: number; delta: string }
  | { type: "toolcall_end"; contentIndex: number; toolCall: ToolCall }
  | { type: "done"; reason: "stop" | "length" | "toolUse"; message: AssistantMessage }
  | { type: "error"; reason: "error" | "aborted"; error: AssistantMessage };

/** In process each event also carries the message so far. A partial never changes after it was handed out. */
export type AssistantMessageEvent =
  | (Exclude<WireEvent, { type: "done" } | { type: "error" }> & { partial: AssistantMessage })
  | Extract<WireEvent, { type: "done" } | { type: "error" }>;

/** The stream of one answer: iterate for the events, `result()` for the final message. It never rejects for a failed request. */
export interface AssistantMessageEventStream extends AsyncIterable<AssistantMessageEvent> {
  result(): Promise<AssistantMessage>;
  /** Ends the request: nobody wants the rest of the answer. Without effect after its end. */
  cancel?(): void;
}
