import type { Model, ThinkingLevel } from "@tau/llm";
import type { RecordingState } from "../store/session-store.ts";
import type { Phase } from "./events/session-event.ts";
import type { QueueMode } from "./options.ts";
import type { OpenQuestion } from "./permission/questions.ts";
import type { QueuedTexts } from "./queues/session-queue.ts";
import type { Spent, Totals } from "./usage/stats.ts";

/** How a session stands. */
export interface SessionState {
  sessionId: string;
  /** The folder that the session works in; absolute. */
  cwd: string;
  /** Absent for a session in memory. */
  sessionFile?: string;
  sessionName?: string;
  model: Model;
  thinkingLevel: ThinkingLevel;
  /** True from an accepted prompt until it is settled. */
  isStreaming: boolean;
  /** Also while a branch that is left is summed up. */
  isCompacting: boolean;
  phase: Phase;
  steeringMode: QueueMode;
  followUpMode: QueueMode;
  autoRetryEnabled: boolean;
  autoCompactionEnabled: boolean;
  messageCount: number;
  pendingMessageCount: number;
  queued: QueuedTexts;
  openQuestions: OpenQuestion[];
  recording: RecordingState;
}

/** Sums of a span of the session. */
export interface SpanStatistics extends Totals {
  /** Share of the prompt tokens that came from the provider's cache, 0 to 1. */
  cacheHitShare: number;
}

/** Sums over a session and its newest turn, and how full the context is. */
export interface SessionStatistics extends SpanStatistics {
  sessionId: string;
  sessionFile?: string;
  /** Since the newest user message. */
  turn: SpanStatistics;
  /** What this process has used of its budget. */
  spent: Spent;
  contextUsage: {
    tokens: number;
    contextWindow: number;
    percent: number;
    /** Whether the provider counted, or only an estimate says so. */
    source: "provider" | "estimate";
  };
}
