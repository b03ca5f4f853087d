import type { AgentMessage, CustomMessage, LimitName } from "@tau/agent";
import type { AssistantMessage } from "@tau/llm";
import type { Compaction } from "../context/session-compaction.ts";
import type { Transcript } from "../context/transcript.ts";
import type { HostEvent } from "../events/session-event.ts";
import type { ModelChoice } from "../models/model-choice.ts";
import type { SessionSettings, Sleep } from "../options.ts";
import type { ToolGuard } from "../permission/tool-guard.ts";
import type { BudgetKeeper } from "./budget-keeper.ts";
import { type Chain, stopOutcome } from "./chain.ts";
import { errorOutcome, type RunOutcome } from "./outcome.ts";
import {
  decideRecovery,
  NOTHING_TRIED,
  type RecoveryAction,
  type RecoveryMeans,
  type RetrySettings,
  retryDelay,
  type Tried,
} from "./recovery.ts";
import { isUsableReply, speaksOfImages, visibleText } from "./reply-verdict.ts";

/** How the agent is started. */
export type Start = { type: "prompt"; messages: AgentMessage[] } | { type: "continue" };

/** What a step of the supervision leads to: another run, or the end. */
type Step = { start: Start } | { outcome: RunOutcome };

/** How one run of the agent ended. */
export interface RunEnd {
  /** The newest reply of the run. */
  readonly reply?: AssistantMessage;
  readonly limit?: LimitName;
}

export interface SupervisorParts {
  readonly settings: SessionSettings;
  readonly transcript: Transcript;
  readonly models: ModelChoice;
  readonly compaction: Compaction;
  readonly guard: ToolGuard;
  readonly budget: BudgetKeeper;
  readonly emit: (event: HostEvent) => Promise<void> | undefined;
  /** Runs the agent once, until it ends or the signal fires. */
  readonly run: (start: Start, signal: AbortSignal) => Promise<RunEnd>;
  /** Puts messages into the transcript without asking the model. */
  readonly enter: (messages: AgentMessage[]) => Promise<void>;
  /** Makes the agent go on with what the store now gives. */
  readonly reload: () => void;
  readonly hasQueued: () => boolean;
  /** Messages of extensions that go on by themselves (law E6). */
  readonly beforeSettle: (outcome: RunOutcome) => AgentMessage[] | undefined | Promise<AgentMessage[] | undefined>;
  /** Tokens of messages that are about to be sent. */
  readonly count: (messages: readonly AgentMessage[]) => number;
  readonly now: () => number;
  readonly random: () => number;
  readonly sleep: Sleep;
}

type ActionOf<T extends RecoveryAction["type"]> = Extract<RecoveryAction, { type: T }>;
/** A run that ended with a reply. */
type Judged = RunEnd & { readonly reply: AssistantMessage };
type Actions = {
  [T in RecoveryAction["type"]]: (action: ActionOf<T>, chain: Chain, end: Judged) => Step | Promise<Step>;
};

const CONTINUE: Step = { start: { type: "continue" } };
/** A word of the supervisor to the model; never shown as the user's. */
const HINT_TYPE = "tau.hint";

const LIMIT_TEXTS: Record<LimitName, string> = {
  maxTurns: "Stopped: the largest number of turns is reached.",
  maxConsecutiveLengthStops: "Stopped: the replies were cut off at the output limit again and again.",
  maxIdenticalCalls: "Stopped: the same call gave the same result again and again.",
  maxCallsPerMessage: "Stopped: one message had more tool calls than are allowed.",
};

/** Sees one chain through: runs the agent, judges each reply, recovers, and says how it all ended (laws E2-E6). */
export class Supervisor {
  readonly #parts: SupervisorParts;
  #retry: RetrySettings;
  #tried: Tried = NOTHING_TRIED;
  /** The attempt that `auto_retry_start` announced last; 0 when no retry is under way. */
  #retrying = 0;
  #retryAborted = false;

  constructor(parts: SupervisorParts) {
    this.#parts = parts;
    this.#retry = parts.settings.retry;
  }

  get retryEnabled(): boolean {
    return this.#retry.enabled;
  }

  set retryEnabled(enabled: boolean) {
    this.#retry = { ...this.#retry, enabled };
  }

  /** Ends the wait for a retry and gives the retry up. */
  abortRetry(chain: Chain | undefined): boolean {
    if (!chain?.waiting) return false;
    this.#retryAborted = true;
    chain.wake();
    return true;
  }

  /** Waits before a summary's failed request is made again; false when it is not to be. */
  async waitToRetry(reply: AssistantMessage, attempt: number, signal: AbortSignal): Promise<boolean> {
    const { random, sleep, emit } = this.#parts;
    const delayMs = retryDelay(reply, attempt, { retry: this.#retry, random });
    if (delayMs === undefined) return false;
    const message = `The summary could not be made (${reply.errorMessage}); it is tried again in ${Math.ceil(delayMs / 1000)} s.`;
    void emit({ type: "warning", message });
    await sleep(delayMs, signal);
    return !signal.aborted;
  }

  /** Told of every reply: a usable one means that what was tried has helped. */
  async replied(reply: AssistantMessage): Promise<void> {
    if (!isUsableReply(reply)) return;
    this.#tried = NOTHING_TRIED;
    await this.#endRetry(true);
  }

  /** Never rejects. */
  async supervise(chain: Chain, first: Start): Promise<RunOutcome> {
    const { models, guard } = this.#parts;
    models.beginChain();
    guard.clear();
    this.#tried = NOTHING_TRIED;
    this.#retryAborted = false;
    try {
      return await this.#follow(chain, first);
    } catch (error) {
      return { status: "error", errorMessage: error instanceof Error ? error.message : String(error) };
    } finally {
      await this.#endRetry(false, chain.stop ? "The run was stopped." : "The run ended.");
    }
  }

  async #follow(chain: Chain, first: Start): Promise<RunOutcome> {
    let step: Step = { start: first };
    for (;;) {
      while ("start" in step) step = await this.#step(chain, step.start);
      const outcome: RunOutcome = step.outcome;
      const messages: AgentMessage[] | undefined = chain.stop ? undefined : await this.#parts.beforeSettle(outcome);
      // An abort that came while extensions thought about it holds.
      if (chain.stop || !messages || messages.length === 0) return chain.stop ? stopOutcome(chain.stop) : outcome;
      step = { start: { type: "prompt", messages } };
    }
  }

  async #step(chain: Chain, start: Start): Promise<Step> {
    const { compaction, run, count } = this.#parts;
    await compaction.ifNeeded(chain.signal, start.type === "prompt" ? count(start.messages) : 0);
    const stopped = this.#stopped(chain);
    if (stopped) return this.#enterOnly(start, stopped);
    const end = await run(start, chain.signal);
    if (chain.stop) return { outcome: stopOutcome(chain.stop) };
    const { reply } = end;
    if (!reply) return { outcome: { status: "error", errorMessage: "The run ended without a reply." } };
    const action = decideRecovery(reply, this.#tried, this.#means(reply));
    const hit = action.type === "accept" || action.type === "fail" ? undefined : this.#parts.budget.hit();
    if (hit) return { outcome: { status: "limit", ...hit } };
    if ("tried" in action) this.#tried = action.tried;
    return this.#act(action, chain, { ...end, reply });
  }

  #act<T extends RecoveryAction["type"]>(action: ActionOf<T> & { type: T }, chain: Chain, end: Judged) {
    const row: Actions[T] = this.#actions[action.type];
    return row(action, chain, end);
  }

  readonly #actions: Actions = {
    accept: (_, chain, end) => this.#accept(chain, end),
    retry: (action, chain, end) => this.#retryLater(action, chain, end),
    resample: ({ notice, hint }) => {
      this.#hide();
      void this.#parts.emit({ type: "warning", message: notice });
      return { start: { type: "prompt", messages: [this.#hint(hint)] } };
    },
    compact: (_, chain, end) => this.#compact(chain, end),
    drop_images: () => {
      this.#hide();
      this.#parts.transcript.dropImages();
      this.#parts.reload();
      const message = "The provider refused an image; it was replaced by a note, and the request is made again.";
      void this.#parts.emit({ type: "warning", message });
      return CONTINUE;
    },
    fallback: ({ reason }) => this.#fallBack(reason),
    fail: async ({ errorMessage }, _, { reply }) => {
      await this.#endRetry(false, errorMessage);
      // What the user has read stays for the model to know; an attempt that said nothing goes.
      if (visibleText(reply) === "") this.#hide();
      return { outcome: errorOutcome({ ...reply, errorMessage }) };
    },
  };

  async #accept(chain: Chain, { reply, limit }: Judged): Promise<Step> {
    const { compaction, hasQueued, guard, emit } = this.#parts;
    if (limit) return { outcome: { status: "limit", limit, message: LIMIT_TEXTS[limit] } };
    if (reply.stopReason === "aborted") return { outcome: { status: "aborted" } };
    if (reply.stopReason === "length") {
      const message = `The answer was cut at the output limit (${reply.usage.output} tokens). Ask the model to go on.`;
      void emit({ type: "warning", message });
    }
    if (!hasQueued()) await compaction.ifNeeded(chain.signal);
    if (chain.stop) return { outcome: stopOutcome(chain.stop) };
    if (hasQueued()) return CONTINUE;
    const { denied } = guard;
    return { outcome: denied.length > 0 ? { status: "denied", denied } : { status: "done" } };
  }

  async #retryLater({ attempt, delayMs }: ActionOf<"retry">, chain: Chain, { reply }: Judged): Promise<Step> {
    const { emit, sleep } = this.#parts;
    this.#hide();
    this.#retrying = attempt;
    const errorMessage = reply.errorMessage ?? "";
    // It can be cut short from the moment on that it is announced.
    const wait = chain.beginWait();
    await emit({ type: "auto_retry_start", attempt, maxAttempts: this.#retry.maxRetries, delayMs, errorMessage });
    await sleep(delayMs, wait);
    chain.endWait();
    if (chain.stop) return { outcome: stopOutcome(chain.stop) };
    if (!this.#retryAborted) return CONTINUE;
    await this.#endRetry(false, errorMessage);
    return { outcome: errorOutcome(reply) };
  }

  async #compact(chain: Chain, { reply }: Judged): Promise<Step> {
    const { compaction, models } = this.#parts;
    this.#hide();
    const end = await compaction.run({ reason: "overflow", signal: chain.signal, willRetry: true });
    if (chain.stop) return { outcome: stopOutcome(chain.stop) };
    if (end.status === "done") return CONTINUE;
    const why = end.status === "failed" ? `compaction failed: ${end.errorMessage}` : "there is nothing to compact";
    const errorMessage = `${reply.errorMessage ?? "The context is full."} (${why})`;
    return models.hasFallback() ? this.#fallBack(errorMessage) : { outcome: errorOutcome({ ...reply, errorMessage }) };
  }

  async #fallBack(reason: string): Promise<Step> {
    await this.#endRetry(false, reason);
    this.#hide();
    this.#parts.models.fallBack(reason);
    this.#tried = NOTHING_TRIED;
    return CONTINUE;
  }

  /** Takes the failed attempt out of the context: a retry sends what the attempt sent (laws F8, R3). */
  #hide(): void {
    if (this.#parts.transcript.hideAttempt()) this.#parts.reload();
  }

  #hint(content: string): CustomMessage {
    return { role: "custom", customType: HINT_TYPE, content, display: false, timestamp: this.#parts.now() };
  }

  #means(reply: AssistantMessage): RecoveryMeans {
    const { models, compaction, transcript, now, random } = this.#parts;
    return {
      retry: this.#retry,
      canCompact: compaction.possible,
      hasFallback: models.hasFallback(),
      hasImages: speaksOfImages(reply) && transcript.hasImages(),
      contextWindow: models.model.contextWindow,
      random,
      now,
    };
  }

  /** The prompt of a chain that ends before its first request is not lost: it enters the transcript. */
  async #enterOnly(start: Start, outcome: RunOutcome): Promise<Step> {
    if (start.type === "prompt") await this.#parts.enter(start.messages);
    return { outcome };
  }

  #stopped(chain: Chain): RunOutcome | undefined {
    if (chain.stop) return stopOutcome(chain.stop);
    const hit = this.#parts.budget.hit();
    return hit && { status: "limit", ...hit };
  }

  async #endRetry(success: boolean, finalError?: string): Promise<void> {
    const attempt = this.#retrying;
    if (attempt === 0) return;
    this.#retrying = 0;
    const failed = !success && finalError !== undefined;
    await this.#parts.emit({ type: "auto_retry_end", success, attempt, ...(failed && { finalError }) });
  }
}
