import type { ErrorKind } from "./errors.ts";
import type { ThinkingLevel } from "./model.ts";
import type { Tool } from "./tool.ts";
import type { Usage } from "./usage.ts";

/** Plain text. `textSignature` is opaque provider data that is replayed to the same provider and model only. */
export interface TextContent {
  type: "text";
  text: string;
  textSignature?: string;
}

/**
 * Reasoning of the model. `thinkingSignature` is opaque and is replayed to the same provider and model only;
 * a `redacted` block has no visible text and carries its encrypted payload in `thinkingSignature`.
 */
export interface ThinkingContent {
  type: "thinking";
  thinking: string;
  thinkingSignature?: string;
  redacted?: boolean;
}

/** An image; `data` is base64 without a data-URL prefix. */
export interface ImageContent {
  type: "image";
  data: string;
  mimeType: string;
}

/** A request of the model to run a tool. `arguments` is always an object; see `invalidArguments`. */
export interface ToolCall {
  type: "toolCall";
  /** Unique in the transcript. */
  id: string;
  name: string;
  arguments: Record<string, unknown>;
  /** Set when the model's argument text was not a JSON object: `arguments` is then `{}` and the call must fail. */
  invalidArguments?: { raw: string; error: string };
  /** Opaque provider data (Gemini thought signature and the like), replayed to the same provider and model only. */
  thoughtSignature?: string;
}

export type AssistantContent = TextContent | ThinkingContent | ToolCall;

/** Why the model stopped. `error` and `aborted` say that the message is what had arrived by then. */
export type StopReason = "stop" | "length" | "toolUse" | "error" | "aborted";

export interface UserMessage {
  role: "user";
  content: string | (TextContent | ImageContent)[];
  /** Unix time in milliseconds, as in every message. */
  timestamp: number;
}

export interface AssistantMessage {
  role: "assistant";
  content: AssistantContent[];
  api: string;
  provider: string;
  /** Model id as it was requested. */
  model: string;
  usage: Usage;
  stopReason: StopReason;
  /** The provider's own id of the response, where it has one. */
  responseId?: string;
  errorMessage?: string;
  errorKind?: ErrorKind;
  /** What the transport knew of a failed request. `retryAfterMs` is the server's wish in milliseconds. */
  errorDetails?: { status?: number; code?: string; retryAfterMs?: number };
  /** The level that was requested, stamped by the loop. */
  thinkingLevel?: ThinkingLevel;
  timestamp: number;
}

export interface ToolResultMessage {
  role: "toolResult";
  toolCallId: string;
  toolName: string;
  content: (TextContent | ImageContent)[];
  /** For programs and screens; never sent to the model. */
  details?: unknown;
  isError: boolean;
  timestamp: number;
}

/**
 * A change of the prompt or the tools during a session. Replaying these in order gives the current
 * prompt and tools: `sections` patches named sections, null removes one.
 */
export interface SystemMessage {
  role: "system";
  content: string | TextContent[];
  sections?: Record<string, string | null>;
  toolsAdded?: Tool[];
  toolsRemoved?: { name: string }[];
  timestamp: number;
}

/** What a provider understands. */
export type Message = UserMessage | AssistantMessage | ToolResultMessage | SystemMessage;
