import type { ErrorKind } from "@tau/llm";

/** What each failure of a prompt says of itself. `text` is the provider's own, shown as it is. */
export interface FailureParams {
  /** The request failed, and neither waiting nor another model could help. `text` is absent when the provider gave none. */
  provider_error: { text?: string };
  /** As `provider_error`, after so many tries beyond the first. */
  retries_used_up: { text?: string; retries: number };
  /** The server names a time that is too far away to wait for. `until` is Unix time; both in milliseconds. */
  wait_too_long: { text?: string; waitMs: number; until: number };
  /** The model gave an answer without text and calls, also when it was asked again. */
  empty_answer: { model: string };
  /** A prompt with a `schema` got no data that fits it; `problem` is what was wrong last. */
  no_data: { problem: string; tries: number };
  /** The context is larger than the model takes, and compaction did not help; `reason` is why it failed. */
  context_full: { text?: string; compaction: "failed" | "nothing"; reason?: string };
  /** The run ended without a reply. */
  no_reply: object;
  /** A bug, or a hook that threw. */
  unforeseen: { text: string };
}

export type FailureCode = keyof FailureParams;

/** Why a prompt ended in an error, as data. `errorKind` is the provider's, by which programs decide. */
export type RunFailure<Code extends FailureCode = FailureCode> = {
  [C in Code]: { readonly code: C; readonly params: Readonly<FailureParams[C]>; readonly errorKind?: ErrorKind };
}[Code];

/** What each limit that can end a prompt says of itself; `most` is the limit. */
export interface LimitParams {
  maxTurns: { most: number };
  /** US dollars. */
  maxCost: { most: number };
  maxTokens: { most: number };
  /** Milliseconds. */
  timeout: { most: number };
  maxConsecutiveLengthStops: { most: number };
  /** `call` is the call that was repeated, with its arguments. */
  maxIdenticalCalls: { most: number; call: string };
  maxCallsPerMessage: { most: number; calls: number };
}

/** A budget or a limit of the loop that ended a prompt. */
export type LimitReached = keyof LimitParams;

export type LimitHit<Limit extends LimitReached = LimitReached> = {
  [L in Limit]: { readonly limit: L; readonly params: Readonly<LimitParams[L]> };
}[Limit];

/** What a session says on its way, as data. */
export interface NoticeParams {
  malformed_call: { attempt: number; most: number };
  images_dropped: object;
  /** The disk refuses the session's entries. */
  not_saved: { reason: string; unsaved: number };
  saved_again: object;
  /** What an earlier process had queued, when another program has continued the session since. */
  queue_dropped: { texts: readonly string[] };
  /** The server read fewer tokens than were sent, by far. */
  prompt_cut: { model: string; read: number; sent: number };
  /** The context is full, and compaction failed too often to be tried again by itself. */
  compaction_given_up: { reason: string };
  /** A model was chosen that cannot take the session; tokens. */
  context_too_large: { tokens: number; contextWindow: number; model: string };
  /** A limit of cost, in US dollars, and a model whose costs are not known. */
  no_prices: { model: string; most: number };
  /** Output tokens. */
  answer_cut: { tokens: number };
  /** Milliseconds. */
  summary_retried: { text?: string; delayMs: number };
}

export type Notice<Code extends keyof NoticeParams = keyof NoticeParams> = {
  [N in Code]: { readonly code: N; readonly params: Readonly<NoticeParams[N]> };
}[Code];
