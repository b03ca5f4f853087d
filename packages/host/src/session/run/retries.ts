import type { AssistantMessage } from "@tau/llm";
import type { HostEvent } from "../events/session-event.ts";
import type { Sleep } from "../options.ts";
import type { Chain } from "./chain.ts";
import type { Notice } from "./failure.ts";
import { errorOf, type RetrySettings, retryDelay } from "./recovery.ts";

interface RetriesParts {
  readonly settings: RetrySettings;
  readonly emit: (event: HostEvent) => Promise<void> | undefined;
  readonly say: (notice: Notice) => void;
  readonly random: () => number;
  readonly sleep: Sleep;
}

interface Retry {
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Milliseconds. */
  readonly delayMs: number;
  /** The error that is why. */
  readonly errorMessage: string;
}

/** The waits before a failed request is made again; each is announced, and each announcement has its end (law E2). */
export class Retries {
  readonly #parts: RetriesParts;
  #settings: RetrySettings;
  /** The attempt that `auto_retry_start` announced last; 0 when no retry is under way. */
  #attempt = 0;
  #givenUp = false;

  constructor(parts: RetriesParts) {
    this.#parts = parts;
    this.#settings = parts.settings;
  }

  get settings(): RetrySettings {
    return this.#settings;
  }

  set enabled(enabled: boolean) {
    this.#settings = { ...this.#settings, enabled };
  }

  /** A new chain begins. */
  begin(): void {
    this.#givenUp = false;
  }

  /** Ends the wait of a chain and gives the retry up. False when there is no wait. */
  giveUp(chain: Chain | undefined): boolean {
    if (!chain?.waiting) return false;
    this.#givenUp = true;
    chain.wake();
    return true;
  }

  /** Announces a retry and waits for its time. False when it was given up; a stop of the chain is the caller's to see. */
  async wait(chain: Chain, { attempt, maxAttempts, delayMs, errorMessage }: Retry): Promise<boolean> {
    const { emit, sleep } = this.#parts;
    this.#attempt = attempt;
    // It can be cut short from the moment on that it is announced.
    const wait = chain.beginWait();
    await emit({ type: "auto_retry_start", attempt, maxAttempts, delayMs, errorMessage });
    await sleep(delayMs, wait);
    chain.endWait();
    if (this.#givenUp) await this.end(errorMessage);
    return !this.#givenUp;
  }

  /** Tells how the retry that is under way ended: well, or with the error that is left. */
  async end(finalError?: string): Promise<void> {
    const attempt = this.#attempt;
    if (attempt === 0) return;
    this.#attempt = 0;
    const success = finalError === undefined;
    await this.#parts.emit({ type: "auto_retry_end", success, attempt, ...(!success && { finalError }) });
  }

  /** Waits before a summary's failed request is made again; false when it is not to be. */
  async waitForSummary(reply: AssistantMessage, attempt: number, signal: AbortSignal): Promise<boolean> {
    const { random, sleep, say } = this.#parts;
    const delayMs = retryDelay(reply, attempt, { retry: this.#settings, random });
    if (delayMs === undefined) return false;
    say({ code: "summary_retried", params: { ...errorOf(reply).text, delayMs } });
    await sleep(delayMs, signal);
    return !signal.aborted;
  }
}
