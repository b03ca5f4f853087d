import type { AssistantMessage } from "@tau/llm";
import type { Compaction } from "../context/session-compaction.ts";
import type { Transcript } from "../context/transcript.ts";
import type { ModelChoice } from "../models/model-choice.ts";
import type { BudgetKeeper } from "./budget.ts";
import { type Chain, stopEnding } from "./chain.ts";
import type { Notice, RunFailure } from "./failure.ts";
import { failureText } from "./failure-text.ts";
import { failed, limited } from "./outcome.ts";
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
import { CONTINUE, hinted, type Step } from "./step.ts";

export interface RecoveryParts {
  readonly transcript: Transcript;
  readonly models: ModelChoice;
  readonly compaction: Compaction;
  readonly budget: BudgetKeeper;
  readonly retries: Retries;
  readonly say: (notice: Notice) => void;
  /** Makes the agent continue with what the store now gives. */
  readonly reload: () => void;
  readonly now: () => number;
  readonly random: () => number;
}

type ActionOf<T extends RecoveryAction["type"]> = Extract<RecoveryAction, { type: T }>;

/** The chain that is on, and the reply that its last run ended with. */
interface Case {
  readonly chain: Chain;
  readonly reply: AssistantMessage;
}

/** One row an action: a new one does not compile without its row. */
type Rows = {
  [T in RecoveryAction["type"]]: (action: ActionOf<T>, failure: Case) => Step | Promise<Step | undefined> | undefined;
};

const MALFORMED_HINT =
  "Your last reply was a malformed tool call and was dropped. Call the tool again with valid JSON arguments, or answer in text.";

/** Does what `decideRecovery` decides, and knows what was tried since the last usable reply (laws E2-E4). */
export class RecoverySteps {
  readonly #parts: RecoveryParts;
  #tried: Tried = NOTHING_TRIED;

  constructor(parts: RecoveryParts) {
    this.#parts = parts;
  }

  /** A new chain begins. */
  begin(): void {
    this.#parts.retries.begin();
    this.#tried = NOTHING_TRIED;
  }

  /** Told of every reply: a usable one means that what was tried has helped. */
  async replied(reply: AssistantMessage): Promise<void> {
    if (!isUsableReply(reply)) return;
    this.#tried = NOTHING_TRIED;
    await this.#parts.retries.end();
  }

  /** What follows the reply that a run ended with; undefined when there is nothing to recover from. */
  async after(chain: Chain, reply: AssistantMessage): Promise<Step | undefined> {
    const action = decideRecovery(reply, this.#tried, this.#means(reply));
    const hit = action.type === "accept" || action.type === "fail" ? undefined : this.#parts.budget.hit();
    if (hit) return { ending: limited(hit) };
    if ("tried" in action) this.#tried = action.tried;
    return this.#act(action, { chain, reply });
  }

  #act<T extends RecoveryAction["type"]>(action: ActionOf<T> & { type: T }, failure: Case) {
    const row: Rows[T] = this.#rows[action.type];
    return row(action, failure);
  }

  readonly #rows: Rows = {
    accept: () => undefined,
    retry: (action, failure) => this.#retry(action, failure),
    resample: ({ attempt }) => {
      this.#hide();
      this.#parts.say({ code: "malformed_call", params: { attempt, most: MAX_HINTS } });
      return hinted(MALFORMED_HINT, this.#parts.now());
    },
    compact: (_, failure) => this.#compact(failure),
    drop_images: () => {
      this.#hide();
      this.#parts.transcript.dropImages();
      this.#parts.reload();
      this.#parts.say({ code: "images_dropped", params: {} });
      return CONTINUE;
    },
    fallback: ({ failure }) => this.#fallBack(failure),
    fail: async ({ failure }, { reply }) => {
      await this.#parts.retries.end(failureText(failure));
      // What the user has read stays for the model to know; an attempt that said nothing goes.
      if (visibleText(reply) === "") this.#hide();
      return { ending: failed(failure) };
    },
  };

  async #retry(retry: ActionOf<"retry">, { chain, reply }: Case): Promise<Step> {
    this.#hide();
    const { text, kind } = errorOf(reply);
    const again = await this.#parts.retries.wait(chain, { ...retry, errorMessage: text.text ?? "" });
    if (chain.stop) return { ending: stopEnding(chain.stop) };
    return again ? CONTINUE : { ending: failed({ code: "provider_error", params: text, ...kind }) };
  }

  async #compact({ chain, reply }: Case): Promise<Step> {
    const { compaction, models } = this.#parts;
    this.#hide();
    const end = await compaction.run({ reason: "overflow", signal: chain.signal, willRetry: true });
    if (chain.stop) return { ending: stopEnding(chain.stop) };
    if (end.status === "done") return CONTINUE;
    const { text, kind } = errorOf(reply);
    const why =
      end.status === "failed"
        ? { compaction: end.status, reason: end.errorMessage }
        : { compaction: "nothing" as const };
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
}
