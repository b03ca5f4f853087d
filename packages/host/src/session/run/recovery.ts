import type { AssistantMessage } from "@tau/llm";
import type { RunFailure } from "./failure.ts";
import { contextIsFull, isEmptyReply, isLoading, isMalformedCall, speaksOfImages } from "./reply-verdict.ts";

/** How a transient failure is tried again. */
export interface RetrySettings {
  readonly enabled: boolean;
  /** Tries after the first one. */
  readonly maxRetries: number;
  /** Milliseconds; doubled for each try. */
  readonly baseDelayMs: number;
  /** Milliseconds. */
  readonly maxDelayMs: number;
  /** Milliseconds: the longest wait that a server may ask for. Default 5 minutes, or `maxDelayMs` if that is more. */
  readonly maxServerDelayMs?: number;
}

export const DEFAULT_RETRY: RetrySettings = { enabled: true, maxRetries: 3, baseDelayMs: 2000, maxDelayMs: 60_000 };

/** A server that wants more is taken at its word: a model that answers sooner, or the user, is better than waiting. */
const LONGEST_SERVER_WAIT_MS = 300_000;

const longestWait = ({ maxServerDelayMs, maxDelayMs }: RetrySettings): number =>
  maxServerDelayMs ?? Math.max(maxDelayMs, LONGEST_SERVER_WAIT_MS);

/** Milliseconds between two looks at a server that loads its model; 60 of them are five minutes. */
const LOADING_DELAY_MS = 5000;
const MAX_LOADS = 60;

/** Repeats of a malformed call before the failure is shown (report R036). */
export const MAX_HINTS = 2;

/** What was tried since the last usable reply of the model in use. */
export interface Tried {
  readonly retries: number;
  /** Waits for a server that loads its model. */
  readonly loads: number;
  readonly hints: number;
  readonly compacted: boolean;
  readonly imagesDropped: boolean;
}

export const NOTHING_TRIED: Tried = {
  retries: 0,
  loads: 0,
  hints: 0,
  compacted: false,
  imagesDropped: false,
};

/** What there is to recover with. */
export interface RecoveryMeans {
  readonly retry: RetrySettings;
  readonly canCompact: boolean;
  readonly hasFallback: boolean;
  /** The context holds images that could be taken out. */
  readonly hasImages: boolean;
  /** Tokens. */
  readonly contextWindow: number;
  /** 0 to 1, for the jitter. */
  readonly random: () => number;
  /** Unix time in milliseconds. */
  readonly now: () => number;
}

/** What the supervisor does about a reply. All but the first and the last take the reply out of the context (law F8). */
export type RecoveryAction =
  | { type: "accept" }
  | { type: "retry"; attempt: number; maxAttempts: number; delayMs: number; tried: Tried }
  | { type: "resample"; attempt: number; tried: Tried }
  | { type: "compact"; tried: Tried }
  | { type: "drop_images"; tried: Tried }
  | { type: "fallback"; failure: RunFailure }
  | { type: "fail"; failure: RunFailure };

interface Case {
  readonly reply: AssistantMessage;
  readonly tried: Tried;
  readonly means: RecoveryMeans;
}

/** A rule gives an action or leaves the case to the next one. */
type Rule = (situation: Case) => RecoveryAction | undefined;

/**
 * What to do after a run ended with this reply: a pure function, the first rule that has an answer wins (laws E2-E4).
 * @param reply the last reply of the run
 */
export function decideRecovery(reply: AssistantMessage, tried: Tried, means: RecoveryMeans): RecoveryAction {
  for (const rule of RULES) {
    const action = rule({ reply, tried, means });
    if (action) return action;
  }
  return { type: "accept" };
}

const aborted: Rule = ({ reply }) => (reply.stopReason === "aborted" ? { type: "accept" } : undefined);

const overflow: Rule = ({ reply, tried, means }) => {
  const full = reply.errorKind === "overflow" || contextIsFull(reply, means.contextWindow);
  if (!full || tried.compacted || !means.canCompact) return undefined;
  return { type: "compact", tried: { ...tried, compacted: true } };
};

const imageRefused: Rule = ({ reply, tried, means }) => {
  if (!speaksOfImages(reply) || tried.imagesDropped || !means.hasImages) return undefined;
  return { type: "drop_images", tried: { ...tried, imagesDropped: true } };
};

const malformedCall: Rule = ({ reply, tried }) => {
  const attempt = tried.hints + 1;
  if (!isMalformedCall(reply) || attempt > MAX_HINTS) return undefined;
  return { type: "resample", attempt, tried: { ...tried, hints: attempt } };
};

/** A server that loads its model is not a failure, however often it says so (report R215). */
const loading: Rule = ({ reply, tried, means: { retry } }) => {
  const attempt = tried.loads + 1;
  if (!isLoading(reply) || !retry.enabled || attempt > MAX_LOADS) return undefined;
  const delayMs = Math.max(askedWait(reply), Math.min(LOADING_DELAY_MS, retry.baseDelayMs * attempt));
  if (delayMs > longestWait(retry)) return undefined;
  return { type: "retry", attempt, maxAttempts: MAX_LOADS, delayMs, tried: { ...tried, loads: attempt } };
};

const transient: Rule = ({ reply, tried, means }) => {
  const attempt = tried.retries + 1;
  const delayMs = isMalformedCall(reply) || isLoading(reply) ? undefined : retryDelay(reply, attempt, means);
  if (delayMs === undefined) return undefined;
  const { maxRetries } = means.retry;
  return { type: "retry", attempt, maxAttempts: maxRetries, delayMs, tried: { ...tried, retries: attempt } };
};

/** Whatever is still an error here cannot be fixed with this model (law E3). */
const lost: Rule = ({ reply, tried, means }) =>
  reply.stopReason === "error" ? ended(providerFailure(reply, tried, means), means) : undefined;

/** The loop has asked again already (report R010): an answer that is still empty is shown as the failure it is. */
const empty: Rule = ({ reply, means }) =>
  isEmptyReply(reply) ? ended({ code: "empty_answer", params: { model: reply.model } }, means) : undefined;

function ended(failure: RunFailure, { hasFallback }: RecoveryMeans): RecoveryAction {
  return { type: hasFallback ? "fallback" : "fail", failure };
}

const RULES: readonly Rule[] = [aborted, overflow, imageRefused, malformedCall, loading, transient, lost, empty];

/**
 * Milliseconds to wait before a request that failed in passing is made again (law E2); undefined when it is not to be.
 * @param attempt counts the tries after the first one, from 1
 */
export function retryDelay(
  reply: AssistantMessage,
  attempt: number,
  { retry, random }: Pick<RecoveryMeans, "retry" | "random">,
): number | undefined {
  if (reply.stopReason !== "error" || reply.errorKind !== "retryable") return undefined;
  const asked = askedWait(reply);
  if (!retry.enabled || attempt > retry.maxRetries || asked > longestWait(retry)) return undefined;
  return Math.max(asked, backoff(attempt, retry, random));
}

/** Milliseconds that the server asks to wait. */
const askedWait = (reply: AssistantMessage): number => reply.errorDetails?.retryAfterMs ?? 0;

/** Exponential backoff with full jitter (law E2), in milliseconds. */
function backoff(attempt: number, { baseDelayMs, maxDelayMs }: RetrySettings, random: () => number): number {
  return Math.round(random() * Math.min(maxDelayMs, baseDelayMs * 2 ** (attempt - 1)));
}

function providerFailure(reply: AssistantMessage, tried: Tried, { retry, now }: RecoveryMeans): RunFailure {
  const { kind, text } = errorOf(reply);
  const waitMs = askedWait(reply);
  if (waitMs > longestWait(retry))
    return { code: "wait_too_long", params: { ...text, waitMs, until: now() + waitMs }, ...kind };
  const retries = tried.retries + tried.loads;
  if (retries > 0) return { code: "retries_used_up", params: { ...text, retries }, ...kind };
  return { code: "provider_error", params: text, ...kind };
}

/** What of a failed reply every failure of a provider has. */
export function errorOf({ errorMessage, errorKind }: AssistantMessage) {
  return { text: errorMessage ? { text: errorMessage } : {}, kind: errorKind ? { errorKind } : {} };
}
