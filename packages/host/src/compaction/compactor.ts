import type { AgentMessage } from "@tau/agent";
import type { Model, StreamFn, StreamOptions, SystemMessage, ThinkingLevel, Usage } from "@tau/llm";
import type { SessionStore } from "../store/session-store.ts";
import type { WaitToRetry } from "./summarise.ts";

export type CompactionReason = "manual" | "threshold" | "overflow";

/** What the context holds when the session asks whether it is time. */
export interface ContextUse {
  /** In the context now: the provider's count plus an estimate of the tail. */
  readonly tokens: number;
  readonly contextWindow: number;
  readonly model: Model;
}

/** What a compaction may use. It reads the store and writes nothing: the session appends the entry. */
export interface CompactionRequest {
  readonly reason: CompactionReason;
  /** The user's words on what matters, for a manual compaction. */
  readonly instructions?: string;
  readonly store: SessionStore;
  readonly model: Model;
  readonly thinkingLevel: ThinkingLevel;
  readonly streamFn: StreamFn;
  /** Key, session id, time-outs and the like for `streamFn`; without the signal. */
  readonly streamOptions: Omit<StreamOptions, "signal">;
  /** Tokens in the context now. */
  readonly tokens: number;
  /** Prompt and tools in force. */
  readonly system: SystemMessage;
  /** Counts a message, cached. */
  countTokens(message: AgentMessage): number;
  readonly signal: AbortSignal;
  /** Waits before a summary's failed request is made again, as before a retry of the run. */
  readonly waitToRetry?: WaitToRetry;
}

/** What a compaction leaves behind; token numbers count tokens. */
export interface CompactionResult {
  summary: string;
  firstKeptEntryId: string;
  tokensBefore: number;
  estimatedTokensAfter?: number;
  usage?: Usage;
  details?: unknown;
}

/**
 * Decides when a context is cut and makes the summary. A rejected or undefined result leaves the session
 * as it was.
 */
export interface Compactor {
  /** Asked before a prompt, between turns and after a run. */
  shouldCompact(use: ContextUse): boolean;
  /** Undefined: there is nothing to cut. Rejects when the summary could not be made. */
  compact(request: CompactionRequest): Promise<CompactionResult | undefined>;
}
