import type { AgentMessage, CustomMessage, LimitName } from "@tau/agent";
import type { AssistantMessage, ToolCall } from "@tau/llm";
import type { Compaction } from "../context/session-compaction.ts";
import type { Transcript } from "../context/transcript.ts";
import type { HostEvent } from "../events/session-event.ts";
import type { ModelChoice } from "../models/model-choice.ts";
import type { SessionSettings } from "../options.ts";
import type { CallGate } from "../permission/call-gate.ts";
import type { AcceptedMessage } from "../queues/session-queue.ts";
import type { BudgetKeeper } from "./budget.ts";
import { type Chain, stopEnding } from "./chain.ts";
import type { LimitHit, Notice, RunFailure } from "./failure.ts";
import { failureText, noticeText } from "./failure-text.ts";
import { failed, limited, type RunEnding } from "./outcome.ts";
import {
  decideRecovery,
  errorOf,
  MAX_HINTS,
  NOTHING_TRIED,
  type RecoveryAction,
  type RecoveryMeans,
  type Tried,
} from "./recovery.ts";
import { isUsableReply, speaksOfImages, visibleText } from "./reply-verdict.ts";
import type { Retries } from "./retries.ts";

/** How the agent is started. */
export type Start = { type: "prompt"; messages: readonly (AgentMessage | AcceptedMessage)[] } | { type: "continue" };

/** What a step of the supervision leads to: another run, or the end. */
type Step = { start: Start } | { ending: RunEnding };

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
  readonly guard: CallGate;
  readonly budget: BudgetKeeper;
  readonly retries: Retries;
  readonly emit: (event: HostEvent) => Promise<void> | undefined;
  /** Runs the agent once, until it ends or the signal fires. */
  readonly run: (start: Start, signal: AbortSignal) => Promise<RunEnd>;
  /** Puts messages into the transcript without asking the model. */
  readonly enter: (messages: readonly (AgentMessage | AcceptedMessage)[]) => Promise<void>;
  /** Makes the agent go on with what the store now gives. */
  readonly reload: () => void;
  readonly hasQueued: () => boolean;
  /** Messages of extensions that go on by themselves (law E6). */
  readonly beforeSettle: (ending: RunEnding, signal: AbortSignal) => Promise<AgentMessage[]>;
  /** Tokens of messages that are about to be sent. */
  readonly count: (messages: readonly (AgentMessage | AcceptedMessage)[]) => number;
  readonly now: () => number;
  readonly random: () => number;
}

type ActionOf<T extends RecoveryAction["type"]> = Extract<RecoveryAction, { type: T }>;
/** A run that ended with a reply. */
type Judged = RunEnd & { readonly reply: AssistantMessage };
type Actions = {
  [T in RecoveryAction["type"]]: (action: ActionOf<T>, chain: Chain, end: Judged) => Step | Promise<Step>;
};

const NOT_COMPACTED = { compaction: "nothing" } as const;
const CONTINUE: Step = { start: { type: "continue" } };
/** A word of the supervisor to the model; never shown as the user's. */
const HINT_TYPE = "tau.hint";

const MALFORMED_HINT =
  "Your last reply was a malformed tool call and was dropped. Call the tool again with valid JSON arguments, or answer in text.";

/** Longest arguments of a call that are shown, in characters. */
const SHOWN_ARGUMENTS = 200;

/** Sees one chain through: runs the agent, judges each reply, recovers, and says how it all ended (laws E2-E6). */
export class Supervisor {
  readonly #parts: SupervisorParts;
  #tried: Tried = NOTHING_TRIED;

  constructor(parts: SupervisorParts) {
    this.#parts = parts;
  }

  /** Told of every reply: a usable one means that what was tried has helped. */
  async replied(reply: AssistantMessage): Promise<void> {
    if (!isUsableReply(reply)) return;
    this.#tried = NOTHING_TRIED;
    await this.#parts.retries.end();
  }

  /** Never rejects. */
  async supervise(chain: Chain, first: Start): Promise<RunEnding> {
    const { models, guard, retries } = this.#parts;
    models.beginChain();
    guard.clear();
    retries.begin();
    this.#tried = NOTHING_TRIED;
    try {
      return await this.#follow(chain, first);
    } catch (error) {
      return failed({ code: "unforeseen", params: { text: error instanceof Error ? error.message : String(error) } });
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
      if (chain.stop || messages.length === 0) return chain.stop ? stopEnding(chain.stop) : ending;
      step = { start: { type: "prompt", messages } };
    }
  }

  async #step(chain: Chain, start: Start): Promise<Step> {
    const { compaction, run, count } = this.#parts;
    await compaction.ifNeeded(chain.signal, start.type === "prompt" ? count(start.messages) : 0);
    const unpriced = this.#parts.budget.unpriced(this.#parts.models.model);
    if (unpriced) this.#say(unpriced);
    const stopped = this.#stopped(chain);
    if (stopped) return this.#enterOnly(start, stopped);
    const end = await run(start, chain.signal);
    if (chain.stop) return { ending: stopEnding(chain.stop) };
    const { reply } = end;
    if (!reply) return { ending: failed({ code: "no_reply", params: {} }) };
    const action = decideRecovery(reply, this.#tried, this.#means(reply));
    const hit = action.type === "accept" || action.type === "fail" ? undefined : this.#parts.budget.hit();
    if (hit) return { ending: limited(hit) };
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
    resample: ({ attempt }) => {
      this.#hide();
      this.#say({ code: "malformed_call", params: { attempt, most: MAX_HINTS } });
      return { start: { type: "prompt", messages: [this.#hint(MALFORMED_HINT)] } };
    },
    compact: (_, chain, end) => this.#compact(chain, end),
    drop_images: () => {
      this.#hide();
      this.#parts.transcript.dropImages();
      this.#parts.reload();
      this.#say({ code: "images_dropped", params: {} });
      return CONTINUE;
    },
    fallback: ({ failure }) => this.#fallBack(failure),
    fail: async ({ failure }, _, { reply }) => {
      await this.#parts.retries.end(failureText(failure));
      // What the user has read stays for the model to know; an attempt that said nothing goes.
      if (visibleText(reply) === "") this.#hide();
      return { ending: failed(failure) };
    },
  };

  async #accept(chain: Chain, { reply, limit }: Judged): Promise<Step> {
    const { compaction, hasQueued, guard } = this.#parts;
    if (limit) return { ending: limited(this.#limitHit(limit, reply)) };
    if (reply.stopReason === "aborted") return { ending: { status: "aborted" } };
    if (reply.stopReason === "length") this.#say({ code: "answer_cut", params: { tokens: reply.usage.output } });
    if (!hasQueued()) await compaction.ifNeeded(chain.signal);
    if (chain.stop) return { ending: stopEnding(chain.stop) };
    if (hasQueued()) return CONTINUE;
    const { denied } = guard;
    return { ending: denied.length > 0 ? { status: "denied", denied } : { status: "done" } };
  }

  async #retryLater(retry: ActionOf<"retry">, chain: Chain, { reply }: Judged): Promise<Step> {
    this.#hide();
    const { text, kind } = errorOf(reply);
    const again = await this.#parts.retries.wait(chain, { ...retry, errorMessage: text.text ?? "" });
    if (chain.stop) return { ending: stopEnding(chain.stop) };
    return again ? CONTINUE : { ending: failed({ code: "provider_error", params: text, ...kind }) };
  }

  async #compact(chain: Chain, { reply }: Judged): Promise<Step> {
    const { compaction, models } = this.#parts;
    this.#hide();
    const end = await compaction.run({ reason: "overflow", signal: chain.signal, willRetry: true });
    if (chain.stop) return { ending: stopEnding(chain.stop) };
    if (end.status === "done") return CONTINUE;
    const { text, kind } = errorOf(reply);
    const why = end.status === "failed" ? { compaction: end.status, reason: end.errorMessage } : NOT_COMPACTED;
    const failure: RunFailure = { code: "context_full", params: { ...text, ...why }, ...kind };
    return models.hasFallback() ? this.#fallBack(failure) : { ending: failed(failure) };
  }

  async #fallBack(failure: RunFailure): Promise<Step> {
    const reason = failureText(failure);
    await this.#parts.retries.end(reason);
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
    const { models, compaction, transcript, retries, now, random } = this.#parts;
    return {
      retry: retries.settings,
      canCompact: compaction.possible,
      hasFallback: models.hasFallback(),
      hasImages: speaksOfImages(reply) && transcript.hasImages(),
      contextWindow: models.model.contextWindow,
      random,
      now,
    };
  }

  /** The prompt of a chain that ends before its first request is not lost: it enters the transcript. */
  async #enterOnly(start: Start, ending: RunEnding): Promise<Step> {
    if (start.type === "prompt") await this.#parts.enter(start.messages);
    return { ending };
  }

  #stopped(chain: Chain): RunEnding | undefined {
    if (chain.stop) return stopEnding(chain.stop);
    const hit = this.#parts.budget.hit();
    return hit && limited(hit);
  }

  /** What the loop says with a name only. */
  #limitHit(limit: LimitName, reply: AssistantMessage): LimitHit {
    const { limits, budget } = this.#parts.settings;
    const calls = reply.content.filter((block) => block.type === "toolCall");
    switch (limit) {
      case "maxTurns":
        return { limit, params: { most: budget.maxTurns ?? 0 } };
      case "maxConsecutiveLengthStops":
        return { limit, params: { most: limits.maxConsecutiveLengthStops ?? 3 } };
      case "maxIdenticalCalls":
        return { limit, params: { most: limits.maxIdenticalCalls ?? 20, call: shownCall(calls.at(-1)) } };
      case "maxCallsPerMessage":
        return { limit, params: { most: limits.maxCallsPerMessage ?? 0, calls: calls.length } };
    }
  }

  #say(notice: Notice): void {
    void this.#parts.emit({ type: "warning", message: noticeText(notice) });
  }
}

/** A call as a person reads it, in one line. */
function shownCall(call: ToolCall | undefined): string {
  if (!call) return "";
  const args = JSON.stringify(call.arguments);
  return `${call.name} ${args.length > SHOWN_ARGUMENTS ? `${args.slice(0, SHOWN_ARGUMENTS)}…` : args}`;
}
