import type { AgentMessage } from "@tau/agent";
import type { CompactionResult } from "../../compaction/compactor.ts";
import type { Accepted } from "../command.ts";
import { timerSleep } from "../options.ts";
import type { AcceptedMessage, QueueKind } from "../queues/session-queue.ts";
import { SessionError } from "../session-error.ts";
import type { SessionParts } from "../session-parts.ts";
import { Chain, type ChainKind, type Stop, stopEnding } from "./chain.ts";
import type { DataAnswer } from "./data-answer.ts";
import type { LimitHit } from "./failure.ts";
import { noticeText } from "./failure-text.ts";
import type { RunEnding, RunOutcome } from "./outcome.ts";
import type { Start } from "./step.ts";

const DEFAULT_GRACE_MS = 1000;

/** Runs one chain at a time and sees to it that each one settles exactly once (law E6, report R184). */
export class ChainRunner {
  readonly #parts: SessionParts;
  #active: Chain | undefined;
  #closing = false;
  /** For the transcript when no run is on: between a call and its result nothing may stand. */
  #unsaid: AgentMessage[] = [];
  lastOutcome: RunOutcome | undefined;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  get active(): Chain | undefined {
    return this.#active;
  }

  /** Starts a chain. Messages that were left in the queue go in front of the new ones (reports R003, Q5). */
  begin(start: Start, answer?: DataAnswer): Accepted {
    const { phase, budget, snapshots, head } = this.#parts;
    const chain = new Chain("run", answer);
    this.#active = chain;
    if (answer) head.wantTools([...head.tools, answer.tool]);
    budget.begin();
    snapshots.forget();
    this.#tellDropped();
    phase.signal("turn_start");
    void this.#conduct(chain, start.type === "prompt" ? this.#prompt(start.messages) : start);
    return { disposition: "started" };
  }

  queue(kind: QueueKind, message: AgentMessage): Accepted {
    const chain = this.#active;
    if (chain && (chain.stop || chain.ending || chain.kind !== "run")) chain.late = true;
    this.#parts.queues.add(kind, message);
    return { disposition: "queued" };
  }

  /** Puts a message into the transcript without starting a run: at once, or when the chain that is on settles. */
  note(message: AgentMessage): void {
    this.#unsaid.push(message);
    if (!this.#active) this.#noteAll();
  }

  interrupt(message: AgentMessage): Accepted {
    const { queues, link } = this.#parts;
    const chain = this.#active;
    if (link.agent.state.isStreaming && !chain?.stop) {
      queues.interrupt(message);
      return { disposition: "queued" };
    }
    const accepted = this.queue("steering", message);
    chain?.wake();
    return accepted;
  }

  limitHit(hit: LimitHit): void {
    this.#active?.halt({ by: "limit", hit });
  }

  /** Resolves when the chain that is on has settled. */
  async abort(reason?: string): Promise<void> {
    const chain = this.#active;
    if (!chain) return;
    this.#halt(chain, { by: "abort", ...(reason !== undefined && { reason }) });
    await chain.settled;
  }

  /** How the chain that is on ends. */
  async settled(): Promise<RunOutcome> {
    return this.#active?.settled ?? this.lastOutcome ?? { status: "done", ...this.#parts.budget.yield };
  }

  /** Resolves when no chain is on. */
  async quiet(): Promise<void> {
    while (this.#active) await this.#active.settled;
  }

  /** Compacts because the user asked for it; a run that is on is stopped first. */
  async compact(instructions?: string): Promise<CompactionResult> {
    const { compaction } = this.#parts;
    if (this.#active && this.#active.kind !== "run") throw new SessionError("busy");
    if (!compaction.possible) throw new SessionError("no_compactor");
    if (this.#active) await this.abort("The session is compacted.");
    return this.alone("compaction", (signal) => compaction.byHand(signal, instructions));
  }

  /**
   * Does work that no run may overlap with (report R106). Rejects during a run; `abort` fires the signal.
   * @param kind what `isCompacting` and the like tell of it
   */
  async alone<T>(kind: Exclude<ChainKind, "run">, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#active) throw new SessionError("busy");
    const chain = new Chain(kind);
    this.#active = chain;
    this.#parts.budget.begin();
    try {
      return await work(chain.signal);
    } finally {
      this.#noteAll();
      this.#active = undefined;
      const ending: RunEnding = chain.stop ? stopEnding(chain.stop) : { status: "done" };
      chain.finish({ ...ending, ...this.#parts.budget.yield });
      // What came meanwhile waited for its turn; after an abort only what came later continues by itself (report R106).
      if (chain.late) this.#beginQueued();
    }
  }

  /** Stops what is in progress and starts nothing more. What is queued stays in the file. */
  async close(): Promise<void> {
    this.#closing = true;
    await this.abort();
    await this.quiet();
  }

  async #conduct(chain: Chain, start: Start): Promise<void> {
    const { budget, supervisor } = this.#parts;
    const endWatch = budget.watch(chain, (hit) => this.#halt(chain, { by: "limit", hit }));
    const ending = await supervisor.supervise(chain, start);
    endWatch();
    await this.#settle(chain, { ...ending, ...budget.yield });
  }

  /** Extensions and disk first, then the one event that says that nothing continues by itself (law E6). */
  async #settle(chain: Chain, outcome: RunOutcome): Promise<void> {
    const { transcript, phase, queues, emit, tell, hub, head } = this.#parts;
    const { store } = transcript;
    chain.ending = true;
    if (chain.answer) head.wantTools(head.tools.filter((tool) => tool !== chain.answer?.tool));
    this.#noteAll();
    store.sync();
    const { unsaved } = transcript;
    if (unsaved) tell({ type: "warning", message: noticeText(unsaved), settling: true });
    if (outcome.status === "limit") tell({ type: "warning", message: outcome.message, settling: true });
    if (queues.size > 0) tell({ type: "queue_update", ...queues.texts() });
    for (const signal of ["turn_end", "run_over", "settled"] as const) phase.signal(signal);
    this.lastOutcome = outcome;
    // A listener of these events may have noted or queued something.
    if (this.#noteAll()) store.sync();
    this.#active = undefined;
    await emit({ type: "agent_settled", aborted: outcome.status === "aborted", outcome });
    hub.calmDown();
    if (chain.late) this.#beginQueued();
    chain.finish(outcome);
  }

  /** A chain for what waits, when there is something; a chain that a listener has begun meanwhile takes it along. */
  #beginQueued(): void {
    const { queues } = this.#parts;
    if (queues.size > 0 && !this.#active && !this.#closing) this.begin({ type: "prompt", messages: [] });
  }

  /** False when there was nothing to note. */
  #noteAll(): boolean {
    const unsaid = this.#unsaid.splice(0);
    for (const message of unsaid) this.#parts.link.add(message);
    return unsaid.length > 0;
  }

  #prompt(messages: readonly (AgentMessage | AcceptedMessage)[]): Start {
    const { queues } = this.#parts;
    const accepted = messages.map((one) => ("role" in one ? queues.accept(one) : one));
    return { type: "prompt", messages: [...queues.takeAll(), ...accepted] };
  }

  #tellDropped(): void {
    const { queues, say } = this.#parts;
    const texts = queues.takeDropped();
    if (texts.length > 0) say({ code: "queue_dropped", params: { texts } });
  }

  /** Stops agent, waits and summaries at once, and listeners that do not come back after the grace (law R8). */
  #halt(chain: Chain, stop: Stop): void {
    const { link, hub, settings } = this.#parts;
    const first = chain.halt(stop);
    link.agent.abort();
    if (!first) return;
    void timerSleep(settings.limits.abortGraceMs ?? DEFAULT_GRACE_MS, chain.over).then(() => {
      if (!chain.over.aborted) hub.hurry();
    });
  }
}
