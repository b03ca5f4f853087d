import type { ChainRunner } from "./run/chain-runner.ts";
import type { SessionParts } from "./session-parts.ts";
import type { SessionState, SessionStatistics, SpanStatistics } from "./session-state.ts";
import { cacheHitShare, type Totals } from "./usage/stats.ts";

export function describeState(parts: SessionParts, runner: ChainRunner): SessionState {
  const { transcript, models, phase, link, compaction, retries, queues, questions } = parts;
  const { store } = transcript;
  const name = store.name();
  return {
    sessionId: store.header.id,
    cwd: parts.cwd,
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
    messageCount: link.messageCount,
    pendingMessageCount: queues.size,
    queued: queues.texts(),
    openQuestions: questions.open,
    recording: store.recording,
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
