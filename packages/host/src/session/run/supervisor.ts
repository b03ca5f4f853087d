import type { AgentMessage } from "@tau/agent";
import { reasonOf } from "../../platform/thrown.ts";
import type { Compaction } from "../context/session-compaction.ts";
import type { ModelChoice } from "../models/model-choice.ts";
import type { SessionSettings } from "../options.ts";
import type { CallGate } from "../permission/call-gate.ts";
import type { AcceptedMessage } from "../queues/session-queue.ts";
import type { BudgetKeeper } from "./budget.ts";
import { type Chain, stopEnding } from "./chain.ts";
import type { Notice } from "./failure.ts";
import { loopLimit } from "./loop-limit.ts";
import { failed, limited, type RunEnding } from "./outcome.ts";
import type { RecoverySteps } from "./recovery-steps.ts";
import type { Retries } from "./retries.ts";
import { CONTINUE, hinted, type RunEnd, type Start, type Step } from "./step.ts";

interface SupervisorParts {
  readonly settings: SessionSettings;
  readonly models: ModelChoice;
  readonly compaction: Compaction;
  readonly guard: CallGate;
  readonly budget: BudgetKeeper;
  readonly retries: Retries;
  readonly recovery: RecoverySteps;
  readonly say: (notice: Notice) => void;
  /** Runs the agent once, until it ends or the signal fires. */
  readonly run: (start: Start, signal: AbortSignal) => Promise<RunEnd>;
  /** Puts messages into the transcript without asking the model. */
  readonly enter: (messages: readonly (AgentMessage | AcceptedMessage)[]) => Promise<void>;
  readonly hasQueued: () => boolean;
  /** Messages of extensions that continue by themselves (law E6). */
  readonly beforeSettle: (ending: RunEnding, signal: AbortSignal) => Promise<AgentMessage[]>;
  readonly now: () => number;
  /** Tokens of messages that are about to be sent. */
  readonly count: (messages: readonly (AgentMessage | AcceptedMessage)[]) => number;
}

/** Sees one chain through: runs the agent, has failures recovered from, and says how it all ended (laws E2-E6). */
export class Supervisor {
  readonly #parts: SupervisorParts;

  constructor(parts: SupervisorParts) {
    this.#parts = parts;
  }

  /** Never rejects. */
  async supervise(chain: Chain, first: Start): Promise<RunEnding> {
    const { models, guard, recovery, retries } = this.#parts;
    models.beginChain();
    guard.clear();
    recovery.begin();
    try {
      return await this.#follow(chain, first);
    } catch (error) {
      return failed({ code: "unforeseen", params: { text: reasonOf(error) } });
    } finally {
      await retries.end(chain.stop ? "The run was stopped." : "The run ended.");
    }
  }

  async #follow(chain: Chain, first: Start): Promise<RunEnding> {
    let step: Step = { start: first };
    for (;;) {
      while ("start" in step) step = await this.#step(chain, step.start);
      const ending: RunEnding = step.ending;
      const messages: AgentMessage[] = chain.stop ? [] : await this.#parts.beforeSettle(ending, chain.signal);
      // An abort that came while extensions thought about it holds.
      if (chain.stop) return stopEnding(chain.stop);
      if (messages.length > 0) step = { start: { type: "prompt", messages } };
      else {
        const conclusion = chain.answer?.conclude(ending, this.#parts.budget.yield.text) ?? { ending };
        if ("ending" in conclusion) return conclusion.ending;
        step = hinted(conclusion.again, this.#parts.now());
      }
    }
  }

  async #step(chain: Chain, start: Start): Promise<Step> {
    const { run, recovery } = this.#parts;
    const stopped = await this.#beforeRun(chain, start);
    if (stopped) return this.#enterOnly(start, stopped);
    const end = await run(start, chain.signal);
    if (chain.stop) return { ending: stopEnding(chain.stop) };
    if (!end.reply) return { ending: failed({ code: "no_reply", params: {} }) };
    return (await recovery.after(chain, end.reply)) ?? this.#accept(chain, { ...end, reply: end.reply });
  }

  /** Why no run is started, if none is. */
  async #beforeRun(chain: Chain, start: Start): Promise<RunEnding | undefined> {
    const { compaction, count, budget, models, say } = this.#parts;
    await compaction.ifNeeded(chain.signal, start.type === "prompt" ? count(start.messages) : 0);
    const unpriced = budget.unpriced(models.model);
    if (unpriced) say(unpriced);
    if (chain.stop) return stopEnding(chain.stop);
    const hit = budget.hit();
    return hit && limited(hit);
  }

  async #accept(chain: Chain, { reply, limit }: Required<Pick<RunEnd, "reply">> & RunEnd): Promise<Step> {
    const { compaction, hasQueued, guard, settings, say } = this.#parts;
    if (limit) return { ending: limited(loopLimit(limit, reply, settings)) };
    if (reply.stopReason === "aborted") return { ending: { status: "aborted" } };
    if (reply.stopReason === "length") say({ code: "answer_cut", params: { tokens: reply.usage.output } });
    if (!hasQueued()) await compaction.ifNeeded(chain.signal);
    if (chain.stop) return { ending: stopEnding(chain.stop) };
    if (hasQueued()) return CONTINUE;
    const { denied } = guard;
    return { ending: denied.length > 0 ? { status: "denied", denied } : { status: "done" } };
  }

  /** The prompt of a chain that ends before its first request is not lost: it enters the transcript. */
  async #enterOnly(start: Start, ending: RunEnding): Promise<Step> {
    if (start.type === "prompt") await this.#parts.enter(start.messages);
    return { ending };
  }
}
