import type {
  FailureCode,
  FailureParams,
  LimitHit,
  LimitParams,
  LimitReached,
  Notice,
  NoticeParams,
  RunFailure,
} from "./failure.ts";

/** The words of failures, limits and notices: the one place that has them. */
type Words<T> = { readonly [Code in keyof T]: (params: Readonly<T[Code]>) => string };

/** Characters of a queued text that a notice shows. */
const SHOWN_CHARS = 60;

const FAILURES: Words<FailureParams> = {
  provider_error: ({ text }) => said(text),
  retries_used_up: ({ text, retries }) => `${said(text)} (after ${retries} ${retries === 1 ? "retry" : "retries"})`,
  wait_too_long: ({ text, waitMs, until }) =>
    `${said(text)} (the server asks to wait until ${new Date(until).toISOString()}, in ${duration(waitMs)})`,
  empty_answer: ({ model }) =>
    `The model ${model} gave an empty answer again. Rephrase the request or choose another model.`,
  no_data: ({ problem, tries }) =>
    `The model gave no answer that fits the schema in ${tries} tries: ${problem}. Make the schema simpler, or choose another model.`,
  context_full: ({ text = "The context is full", compaction, reason }) =>
    `${text} (${compaction === "failed" ? `compaction failed: ${reason}` : "there is nothing to compact"}). ` +
    "Start a new session, or choose a model with a larger context window.",
  no_reply: () => "The run ended without a reply. Send the prompt again.",
  unforeseen: ({ text }) => text,
};

const LIMITS: Words<LimitParams> = {
  maxTurns: ({ most }) => reached(`${most} ${most === 1 ? "turn" : "turns"}`, "--max-turns, limits.maxTurns"),
  maxCost: ({ most }) => reached(`$${decimal(most)}`, "--max-cost, limits.maxCost"),
  maxTokens: ({ most }) => reached(`${most} tokens`, "budget.maxTokens"),
  timeout: ({ most }) => reached(`${most / 1000} s`, "--timeout, limits.maxSeconds"),
  maxConsecutiveLengthStops: ({ most }) =>
    `Stopped: ${most} replies in a row were cut off at the output limit. Ask for smaller steps, or raise the model's maxTokens in models.json or limits.maxConsecutiveLengthStops in settings.json.`,
  maxIdenticalCalls: ({ most, call }) =>
    `Stopped: the call ${call} gave the same result ${most} times. Put the task in other words, or raise limits.maxIdenticalCalls in settings.json.`,
  maxCallsPerMessage: ({ most, calls }) =>
    `Stopped: one message had ${calls} tool calls, and ${most} are allowed. Ask for smaller steps, or raise limits.maxCallsPerMessage in settings.json.`,
};

const NOTICES: Words<NoticeParams> = {
  malformed_call: ({ attempt, most }) =>
    `The model made a tool call that could not be read; it is asked again (${attempt} of ${most}).`,
  images_dropped: () => "The provider refused an image; it was replaced by a note, and the request is made again.",
  not_saved: ({ reason, unsaved }) =>
    `The session is not being saved: ${reason}. ${unsaved} entries are in memory only; fix it before you leave.`,
  saved_again: () => "The session is being saved again; nothing is missing from the file.",
  queue_dropped: ({ texts }) =>
    `The session was continued by another program, so messages that were still queued are not sent: ${texts.map(quoted).join(", ")}. Send them again if they still hold.`,
  prompt_cut: ({ model, read, sent }) =>
    `${model} read ${read} tokens of about ${sent} that were sent: its server probably cuts the front of the prompt away. ` +
    "Raise the server's context length (Ollama: OLLAMA_CONTEXT_LENGTH, llama.cpp: -c), " +
    "or set contextWindow in models.json to what it has.",
  compaction_given_up: ({ reason }) =>
    `The context is full and could not be compacted (${reason}). It is not tried again automatically: compact by hand, or start a new session.`,
  context_too_large: ({ tokens, contextWindow, model }) =>
    `The session has about ${tokens} tokens, more than the ${contextWindow} that ${model} takes. Compact it, or choose a larger model.`,
  no_prices: ({ model, most }) =>
    `The limit of $${decimal(most)} cannot hold: no prices are known for ${model}. Set its cost in models.json, or limit the turns or the time instead.`,
  answer_cut: ({ tokens }) => `The answer was cut at the output limit (${tokens} tokens). Ask the model to continue.`,
  summary_retried: ({ text, delayMs }) =>
    `The summary could not be made (${said(text)}); it is tried again in ${Math.ceil(delayMs / 1000)} s.`,
};

/** One sentence or two for people: what happened, and what to do. */
export function failureText<Code extends FailureCode>({ code, params }: RunFailure<Code>): string {
  return FAILURES[code](params);
}

/** As `failureText`, for a limit. */
export function limitText<Limit extends LimitReached>({ limit, params }: LimitHit<Limit>): string {
  return LIMITS[limit](params);
}

/** As `failureText`, for what is said on the way. */
export function noticeText<Code extends keyof NoticeParams>({ code, params }: Notice<Code>): string {
  return NOTICES[code](params);
}

/** The beginning of a text, on one line. */
function quoted(text: string): string {
  const line = text.slice(0, SHOWN_CHARS).replace(/\s/g, " ").trim();
  return `"${line}${text.length > SHOWN_CHARS ? "…" : ""}"`;
}

const said = (text: string | undefined): string => text || "The provider gave no reason.";

function reached(most: string, setting: string): string {
  return `Stopped: the limit of ${most} is reached; raise it with ${setting}.`;
}

/** Without an exponent, which no price has. */
function decimal(value: number): string {
  const text = String(value);
  return text.includes("e-") ? value.toFixed(20).replace(/(?<!0)0+$/, "") : text;
}

function duration(ms: number): string {
  const minutes = Math.ceil(ms / 60_000);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}
