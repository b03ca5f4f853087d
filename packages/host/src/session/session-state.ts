import type { Model, ThinkingLevel } from "@tau/llm";
import type { RecordingState } from "../store/session-store.ts";
import type { Phase } from "./events/session-event.ts";
import type { QueueMode } from "./options.ts";
import type { OpenQuestion } from "./permission/questions.ts";
import type { QueuedTexts } from "./queues/session-queue.ts";
import type { ChainRunner } from "./run/chain-runner.ts";
import type { SessionParts } from "./session-parts.ts";
import { cacheHitShare, type Spent, type Totals } from "./usage/stats.ts";

/** How a session stands, as RPC's `get_state` gives it and more. */
export interface SessionState {
  sessionId: string;
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

export function describeState(parts: SessionParts, runner: ChainRunner): SessionState {
  const { transcript, models, phase, link, compaction, retries, queues, questions } = parts;
  const { store } = transcript;
  const name = store.name();
  return {
    sessionId: store.header.id,
    ...(store.path !== undefined && { sessionFile: store.path }),
    ...(name !== undefined && { sessionName: name }),
    model: models.model,
    thinkingLevel: models.level,
    isStreaming: runner.active?.kind === "run",
    isCompacting: compaction.running || runner.active?.kind === "compaction",
    phase: phase.phase,
    steeringMode: link.agent.steeringMode,
    followUpMode: link.agent.followUpMode,
    autoRetryEnabled: retries.settings.enabled,
    autoCompactionEnabled: compaction.enabled,
    messageCount: link.messages.length,
    pendingMessageCount: queues.size,
    queued: queues.texts(),
    openQuestions: questions.open,
    recording: store.recording,
  };
}

/** Sums of a span of the session. */
export interface SpanStatistics extends Totals {
  /** Share of the prompt tokens that came from the provider's cache, 0 to 1. */
  cacheHitShare: number;
}

/** In the shape of RPC's `get_session_stats`, and more. */
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

export function describeStats({ transcript, models, budget }: SessionParts): SessionStatistics {
  const { session, turn } = transcript.stats();
  const { store, tokens, meter } = transcript;
  const { contextWindow } = models.model;
  return {
    sessionId: store.header.id,
    ...(store.path !== undefined && { sessionFile: store.path }),
    ...withShare(session),
    turn: withShare(turn),
    spent: budget.spent,
    contextUsage: {
      tokens: Math.round(tokens),
      contextWindow,
      percent: contextWindow > 0 ? Math.round((tokens / contextWindow) * 1000) / 10 : 0,
      source: meter.reported === undefined ? "estimate" : "provider",
    },
  };
}

const withShare = (totals: Totals): SpanStatistics => ({ ...totals, cacheHitShare: cacheHitShare(totals.tokens) });
