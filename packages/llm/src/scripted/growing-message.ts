import type { WireEvent } from "../protocol/events.ts";
import type { AssistantContent, AssistantMessage } from "../protocol/message.ts";

type BlockEvent = Exclude<WireEvent, { type: "start" | "done" | "error" }>;

/**
 * The message so far of a scripted stream. A snapshot costs its number of blocks, not its text, and never
 * changes once it was handed out (law S5). Arguments of a call appear when the call ends.
 */
export class GrowingMessage {
  readonly #frame: AssistantMessage;
  readonly #blocks: AssistantContent[] = [];

  /** @param frame the message that the stream will end with; its content is not looked at */
  constructor(frame: AssistantMessage) {
    const { errorMessage: _text, errorKind: _kind, errorDetails: _details, ...rest } = frame;
    this.#frame = { ...rest, content: [], stopReason: "stop" };
  }

  apply(event: WireEvent): void {
    if (event.type === "start" || event.type === "done" || event.type === "error") return;
    this.#blocks[event.contentIndex] = nextBlock(this.#blocks[event.contentIndex], event);
  }

  snapshot(): AssistantMessage {
    // A script may start with block 1: the gap shows as empty text until block 0 comes.
    const content = Array.from(this.#blocks, (block): AssistantContent => block ?? { type: "text", text: "" });
    return { ...this.#frame, content };
  }

  /** What had arrived when the request was aborted. */
  aborted(): AssistantMessage {
    return { ...this.snapshot(), stopReason: "aborted", errorMessage: "Request was aborted", errorKind: "aborted" };
  }
}

function nextBlock(block: AssistantContent | undefined, event: BlockEvent): AssistantContent {
  switch (event.type) {
    case "text_start":
      return { type: "text", text: "" };
    case "text_delta":
      return { type: "text", text: (block?.type === "text" ? block.text : "") + event.delta };
    case "text_end":
      return { type: "text", text: event.content };
    case "thinking_start":
      return { type: "thinking", thinking: "" };
    case "thinking_delta":
      return { type: "thinking", thinking: (block?.type === "thinking" ? block.thinking : "") + event.delta };
    case "thinking_end":
      return { type: "thinking", thinking: event.content };
    case "toolcall_start":
      return { type: "toolCall", id: event.id, name: event.name, arguments: {} };
    case "toolcall_delta":
      return block ?? { type: "toolCall", id: "", name: "", arguments: {} };
    case "toolcall_end":
      return event.toolCall;
  }
}
