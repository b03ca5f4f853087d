import type { AssistantMessage, Model, StreamFn, StreamOptions, Usage } from "@tau/llm";
import type { CompactionReason, CompactionRequest, CompactionResult, Compactor } from "../../compaction/compactor.ts";
import { reasonOf } from "../../platform/thrown.ts";
import type { HostEvent } from "../events/session-event.ts";
import type { ModelChoice } from "../models/model-choice.ts";
import type { Notice } from "../run/failure.ts";
import { SessionError } from "../session-error.ts";
import { metered, usageDraft } from "../usage/side-usage.ts";
import type { SessionHead } from "./session-head.ts";
import type { CountTokens } from "./tokens.ts";
import type { Transcript } from "./transcript.ts";

interface CompactionParts {
  readonly compactor: Compactor | undefined;
  readonly transcript: Transcript;
  readonly models: ModelChoice;
  readonly head: SessionHead;
  readonly streamFn: StreamFn;
  readonly streamOptions: Omit<StreamOptions, "signal">;
  readonly count: CountTokens;
  readonly emit: (event: HostEvent) => Promise<void> | undefined;
  readonly say: (notice: Notice) => void;
  /** Makes the agent continue with what the store now gives. */
  readonly reload: () => void;
  readonly waitToRetry: (reply: AssistantMessage, attempt: number, signal: AbortSignal) => Promise<boolean>;
  readonly use: (usage: CompactionResult["usage"]) => void;
  readonly now: () => number;
}

/** How one compaction ended. */
export type CompactionEnd =
  | { status: "done"; result: CompactionResult }
  | { status: "nothing" }
  | { status: "aborted" }
  | { status: "failed"; errorMessage: string };

interface CompactionOrder {
  readonly reason: CompactionReason;
  readonly signal: AbortSignal;
  readonly instructions?: string;
  /** The failed request is made again afterwards. */
  readonly willRetry?: boolean;
}

const NO_RESULT = { aborted: "it was aborted", nothing: "there is nothing to compact" };

/** Runs the injected compactor at the right moments and takes its result into the session. */
export class Compaction {
  readonly #parts: CompactionParts;
  enabled = true;
  running = false;

  constructor(parts: CompactionParts) {
    this.#parts = parts;
  }

  /** An overflow can be met. */
  get possible(): boolean {
    return this.#parts.compactor !== undefined;
  }

  /**
   * Compacts when it is time: asked before a prompt, between turns and after a run (law F12).
   * @param coming tokens that the next request adds to the context
   * @returns whether the context was changed
   */
  async ifNeeded(signal: AbortSignal, coming = 0): Promise<boolean> {
    const { compactor, transcript, models } = this.#parts;
    if (!compactor || !this.enabled || signal.aborted) return false;
    const { model } = models;
    const use = { tokens: transcript.tokens + coming, contextWindow: model.contextWindow, model };
    if (!compactor.shouldCompact(use)) return false;
    const end = await this.run({ reason: "threshold", signal });
    if (end.status === "failed" && !compactor.shouldCompact(use)) {
      // Report R115: said once, when the threshold starts no compaction any more.
      this.#parts.say({ code: "compaction_given_up", params: { reason: end.errorMessage } });
    }
    return end.status === "done";
  }

  /** Compacts now. Never rejects: a failure leaves the session as it was and is reported by `compaction_end`. */
  async run(order: CompactionOrder): Promise<CompactionEnd> {
    const { emit } = this.#parts;
    const { reason } = order;
    this.running = true;
    await emit({ type: "compaction_start", reason });
    const end = await this.#attempt(order);
    if (end.status === "done") this.#apply(end.result);
    this.running = false;
    await emit({
      type: "compaction_end",
      reason,
      aborted: end.status === "aborted",
      willRetry: end.status === "done" && order.willRetry === true,
      ...(end.status === "done" && { result: end.result }),
      ...(end.status === "failed" && { errorMessage: end.errorMessage }),
      ...(end.status === "nothing" && { errorMessage: "There is nothing to compact." }),
    });
    return end;
  }

  /**
   * Compacts because the user asked for it.
   * @throws SessionError when nothing came of it
   */
  async byHand(signal: AbortSignal, instructions?: string): Promise<CompactionResult> {
    if (!this.possible) throw new SessionError("no_compactor");
    const end = await this.run({ reason: "manual", signal, ...(instructions !== undefined && { instructions }) });
    if (end.status === "done") return end.result;
    const reason = end.status === "failed" ? end.errorMessage : NO_RESULT[end.status];
    throw new SessionError("not_compacted", reason);
  }

  async #attempt(order: CompactionOrder): Promise<CompactionEnd> {
    const { compactor } = this.#parts;
    if (!compactor) return { status: "nothing" };
    const meter = metered(this.#parts.streamFn);
    const request = this.#request(order, meter.streamFn);
    let given: Usage | undefined;
    try {
      const result = await untilAborted(compactor.compact(request), order.signal);
      given = result?.usage;
      if (order.signal.aborted) return { status: "aborted" };
      return result ? { status: "done", result } : { status: "nothing" };
    } catch (error) {
      if (order.signal.aborted) return { status: "aborted" };
      return { status: "failed", errorMessage: reasonOf(error) };
    } finally {
      this.#spend(meter.used() ?? given, request.model);
    }
  }

  /** Failed summaries cost as much as others (reports R114, R191). */
  #spend(usage: Usage | undefined, model: Model): void {
    if (!usage) return;
    const { transcript, use } = this.#parts;
    transcript.append(usageDraft("compaction", model, usage));
    use(usage);
  }

  #request({ reason, signal, instructions }: CompactionOrder, streamFn: StreamFn): CompactionRequest {
    const { transcript, models, head, streamOptions, count, now, waitToRetry } = this.#parts;
    const { model } = models;
    return {
      reason,
      ...(instructions !== undefined && { instructions }),
      store: transcript.store,
      model,
      thinkingLevel: models.level,
      streamFn,
      streamOptions,
      tokens: transcript.tokens,
      system: head.checkpoint(now()),
      countTokens: (message) => count(message, model.id),
      signal,
      waitToRetry: (reply, attempt) => waitToRetry(reply, attempt, signal),
    };
  }

  #apply({ summary, firstKeptEntryId, tokensBefore, details }: CompactionResult): void {
    const { transcript, head, reload, now } = this.#parts;
    const kept = { summary, firstKeptEntryId, tokensBefore, systemMessage: head.checkpoint(now()) };
    transcript.append({ type: "compaction", ...kept, ...(details !== undefined && { details }) });
    reload();
  }
}

/** Does not wait for work that ignores the signal (law R8). */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const cut = () => resolve(undefined);
    if (signal.aborted) cut();
    signal.addEventListener("abort", cut, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", cut));
  });
}
