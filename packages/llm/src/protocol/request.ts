import type { AssistantMessageEventStream } from "./events.ts";
import type { Message } from "./message.ts";
import type { Model, ThinkingLevel } from "./model.ts";
import type { Tool } from "./tool.ts";

/** What the model is shown. Messages are already paired and unique. */
export interface Context {
  systemPrompt?: string;
  messages: Message[];
  tools?: Tool[];
}

/** Time-outs in milliseconds; 0 switches one off. */
export interface RequestTimeouts {
  /** Until a connection stands. Default 30,000. */
  connectMs?: number;
  /** From sending the request to the first byte of the body. Default 300,000. */
  firstByteMs?: number;
  /** Between two chunks of the body. Default 120,000. */
  idleMs?: number;
}

export interface StreamOptions {
  signal?: AbortSignal;
  /** Secret; sent in the header that the API wants and nowhere else. */
  apiKey?: string;
  /** Extra request headers; they win over the model's. */
  headers?: Record<string, string>;
  temperature?: number;
  /** Output limit in tokens; never above what model and window leave. */
  maxTokens?: number;
  thinkingLevel?: ThinkingLevel;
  /** Lets a provider route the requests of one session to one cache. */
  sessionId?: string;
  /** Told, in one line each, what could not be sent as it is: a tool whose schema the API does not take. */
  onWarning?: (warning: string) => void;
  timeouts?: RequestTimeouts;
  /** Secret-free request environment: proxy and CA settings as read by the composition root. */
  network?: NetworkSettings;
}

/** Proxy and trust settings, in the meaning of the environment variables they are named after. */
export interface NetworkSettings {
  httpProxy?: string;
  httpsProxy?: string;
  noProxy?: string;
  /** Files with PEM certificates that are trusted besides the default ones. */
  extraCaFiles?: string[];
}

/** Starts one request. Never throws for a failed request: failure is the last event of the stream. */
export type StreamFn = (
  model: Model,
  context: Context,
  options: StreamOptions,
) => AssistantMessageEventStream | Promise<AssistantMessageEventStream>;
