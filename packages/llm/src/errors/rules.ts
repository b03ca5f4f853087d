import type { ErrorKind } from "../protocol/errors.ts";
import { saysTooManyTokens } from "./over-limit.ts";

/** What the rules look at. `codes` are code, type and status names of the error, in the server's spelling. */
export interface ErrorFacts {
  /** HTTP status, or the one an error inside a stream names. */
  status?: number | undefined;
  codes: readonly string[];
  text: string;
  retryAfterMs?: number | undefined;
  /** Name and address of the provider. */
  vendor?: string;
}

/**
 * Codes of our own in the details of a failure:
 * - `malformed_tool_call`: the server could not read what its model wrote; asked again, it may write another answer
 * - `model_loading`: the server is there and will answer when its model is loaded
 */
type FailureCode = "malformed_tool_call" | "model_loading";

/** One rule; what it names must all hold. */
export interface ErrorRule {
  kind: ErrorKind;
  /** The code that the failure gets in place of the server's: what a supervisor can act on beyond the kind. */
  names?: FailureCode;
  /** The case it is for, with an example where the reason is a text. */
  why: string;
  status?: readonly number[] | { from: number; to: number };
  code?: RegExp;
  text?: RegExp;
  /** A shape that the text must have. */
  shape?: (text: string) => boolean;
  /** Holds for an answer that says nothing. */
  silent?: true;
  vendor?: RegExp;
  /** Holds when the server asks for a wait longer than this. */
  waitAboveMs?: number;
}

const HOUR_MS = 3_600_000;

const RATE_LIMIT =
  /rate.?limit|too many (concurrent )?requests|(tokens?|requests?) per (sec|min|hour|day)|\b[TRIO]{1,4}P[MDHS]\b|try again in \d|retry in \d|throttl|too many tokens, please wait/i;

const NO_CREDIT =
  /insufficient (account )?(balance|credits?|funds|quota)|(credit|account) balance is too low|(out of|no remaining|not enough|used all (available |your )?|doesn't have any) credits?|(requires|need) more credits|(exceeded|reached) your (current |monthly |account )?(quota|budget)|(monthly|weekly|daily) (\w{1,30} )?(limit|quota|budget)|(spend|spending|usage|billing|budget|credit|hard) limit (has been |was )?(reached|exceeded|hit)|(reached|exceeded|hit) (your|its|the|their)( \w{1,30}){0,3} (spend|spending|usage|billing|monthly|credit) (limit|cap)|budget has been exceeded|\bbilling\b|payment (is )?required|please recharge|overdue payment|in arrears|extra usage is required|free usage (limit|exhausted)/i;

const TOO_LONG: readonly RegExp[] = [
  // Anthropic, z.ai: "prompt is too long: 213462 tokens > 200000 maximum", "Prompt exceeds max length"
  /(prompt|input|request|conversation|messages?) (is |are |was )?too (long|large)|prompt exceeds|exceeds max(imum)? length/i,
  // OpenAI, OpenRouter, vLLM, Mistral: "This model's maximum context length is 8192 tokens", "... with 32768 maximum context length"
  /max(imum)? (model |allowed )?context (length|size|window)/i,
  // "Input length (N) exceeds model's maximum context length (M)", "exceeds the context window of this model", "context window exceeds limit"
  /(exceed|overflow|longer than|larger than|greater than|bigger than|too (long|large|big) for|beyond|more than).{0,80}context[ _-]?(length|window|size|limit)/i,
  /context[ _-]?(length|window|size|limit)s?.{0,40}(exceed|overflow|too (small|short)|is full)/i,
  // LM Studio: "when context the overflows ... loaded with context length of only 4096 tokens", "Reached context length of 32000 tokens"
  /context the overflows|context overflow|context length of (only )?\d/i,
  // "Prompt has N tokens, but the configured context size is M", llama.cpp "exceeds the available context size"
  /tokens.{0,80}context (length|window|size|limit) (is|of)\b|(available|configured) context size/i,
  // "exceeds the maximum allowed input length of N tokens", "prompt token count of X exceeds the limit of Y", Google "input token count (N) exceeds"
  /(input|prompt|request(ed)?|message).{0,40}(tokens?|length|count|size).{0,60}(exceeds?|more than|greater than|longer than|over) (the |a |an |its |model'?s? |your )?(max|limit|allowed|configured|context)/i,
  /(exceed(s|ed)?|over) (the )?(model'?s? )?(max(imum)?) (allowed )?(input|prompt|request|number of tokens|token)/i,
  // xAI: "maximum prompt length is 131072 but the request contains 537812 tokens"
  /max(imum)? (prompt|input) length/i,
  // Kimi: "Your request exceeded model token limit: X (requested: Y)"
  /exceed(s|ed)? (the )?(model'?s? )?token limit|token limit exceeded/i,
  // OpenAI, Azure: "Please reduce the length of the messages", "Input tokens exceed the configured limit of N tokens"
  /(reduce|shorten|decrease) (the length of |your )?(the )?(messages|prompt|input length|conversation)|input tokens exceed/i,
  // Cohere, z.ai 1210, Ark: "too many tokens: total number of tokens in the prompt", "tokens in request more than max tokens"
  /too many (input|prompt) tokens|too many tokens( in|:)|\btokens\b.{0,40} (exceeds?|more than|over) (the )?max/i,
  // vLLM: "The decoder prompt (length N) is longer than the maximum model length of M"; TGI: "`inputs` tokens + `max_new_tokens` must be <="
  /longer than the maximum model length|inputs` tokens \+/i,
  // DashScope: "Range of input length should be [1, 30720]"
  /range of input length/i,
  // Vendors that answer in Chinese: "input length exceeds the model's maximum", "the prompt is over-long"
  /(输入|上下文|提示词|prompt) ?.{0,20}(超过|超出|超长|过长)/i,
  // Qwen templates behind a server that cut the front of the prompt away (R042).
  /no user query found/i,
];

const MALFORMED_CODE =
  /^(tool_use_failed|output_parse_failed|json_validate_failed|malformed_(function|tool)_call|unexpected_tool_call|invalid_tool_call|(tool|function)_call_(parse|parsing)_(error|failed)|ModelErrorException)$/i;

const MALFORMED =
  // regexp: error texts are cut to 4,000 characters
  /(fail|unable|error|could not|cannot|invalid)\w{0,6} (to )?(pars|generat|decod|validat)\w{1,6} (the |a |model )?(output|tool[ _-]?call|function[ _-]?call)|(tool|function)[ _-]?calls? (validation|parsing|parse|generation) (failed|error)|malformed (tool|function)[ _-]?call|failed to call a function|unexpected tokens? (\d+ )?(remaining|while expecting)|harmony ?(parse|error)|invalid sequence as part of tooluse|model (produced|generated|returned) (an? )?(invalid|malformed|unparsable)|failed_generation|attempted to call tool/i;

const LOADING =
  /(model|server|runner|engine|weights?|endpoint|replica|instance|worker)\b.{0,60}\b(is|are|currently|still|being)? ?(load(ing|ed yet)|warming|starting|initiali[sz]ing|booting|not (yet )?(ready|loaded|available yet))|\bloading (the )?(model|weights)|warming up|cold[ -]?start/i;

const OVERFLOW_CODE =
  /context_?length_?exceeded|exceed(ed|s)?_context_size|context_?window_?exceeded|model_context_window_exceeded|context_too_large|prompt_too_long|request_too_large|tokens_limit_reached|max_tokens_exceeded|^1261$/i;

const FILTERED =
  /content (management )?policy|content.?filter|safety (system|policy|filter|reasons)|flagged (as|by|for)|requires moderation|input was flagged|inappropriate content|responsible ai|prohibited content|blocked (by|due to|because of) .{0,30}(safety|policy|content|filter)|usage polic/i;

const BAD_KEY =
  /(invalid|incorrect|missing|no|expired|revoked|disabled|wrong) (x-)?api[- _]?key|api[- _]?key .{0,40}(not valid|invalid|expired|missing|required|not found|disabled)|(invalid|no|missing) (auth|authentication|credentials|bearer)|token (has |is )?expired|(provide|pass) .{0,20}api key|login again|unauthori[sz]ed/i;

const PASSING =
  /overload|temporar(y|ily)|try again later|please (try again|retry)|(timed?|time)[ -]?out|connection (reset|refused|error|closed|aborted)|upstream|bad gateway|gateway time|service (is )?(currently )?unavailable|internal (server )?error|(model is|currently) .{0,20}loading|loading model|network error|fetch failed|socket hang up|at capacity|no capacity|unexpected eof|server (is )?busy|ECONNRESET|provider returned error|crashed|has died|unexpectedly stopped|unexpected error/i;

/**
 * Law E7: the first rule that holds gives the kind. The order is the meaning: what cannot be paid is not retried; a
 * limit on the rate speaks of tokens as an overflow does; a proxy wraps an overflow into a 503.
 */
export const ERROR_RULES: readonly ErrorRule[] = [
  {
    kind: "retryable",
    why: "the model's own output, by code (R213)",
    code: MALFORMED_CODE,
    names: "malformed_tool_call",
  },
  { kind: "retryable", why: "the model's own output, by text (R213)", text: MALFORMED, names: "malformed_tool_call" },
  { kind: "quota", why: "payment required", status: [402] },
  {
    kind: "quota",
    why: "quota by code",
    code: /insufficient_(user_)?quota|billing|credit_?balance|insufficient_(balance|credits|funds)|(?<!token_)quota_exceeded|arrear|usage_limit|budget_exceeded|payment|^1113$|^1308$/i,
  },
  {
    kind: "retryable",
    why: 'Google says "exceeded your current quota" of a limit a minute as well; only then it names a short wait',
    code: /RESOURCE_EXHAUSTED/,
    text: /retry in [\d.]+ ?m?s\b(?![\s\S]*per ?day)/i,
  },
  { kind: "quota", why: "no money, no credits, a monthly limit", status: { from: 200, to: 499 }, text: NO_CREDIT },
  { kind: "quota", why: "a limit that lasts longer than anyone waits (R037)", status: [429], waitAboveMs: HOUR_MS },
  { kind: "overflow", why: "overflow by code", code: OVERFLOW_CODE },
  { kind: "overflow", why: "the body is too large; Groq: larger than all tokens of a minute", status: [413] },
  { kind: "retryable", why: '"Rate limit reached ... tokens per min" is not an overflow', text: RATE_LIMIT },
  { kind: "retryable", why: "rate limit by code", code: /rate_?limit|too_?many_?requests|throttl|RESOURCE_EXHAUSTED/i },
  {
    kind: "retryable",
    why: "a server that loads its model (R215)",
    status: { from: 500, to: 599 },
    text: LOADING,
    names: "model_loading",
  },
  {
    kind: "overflow",
    why: "more tokens than the model takes: a number above another one (R214)",
    shape: saysTooManyTokens,
  },
  {
    kind: "overflow",
    why: "these vendors say nothing when the prompt is too long (R214)",
    status: [400],
    silent: true,
    vendor: /cerebras|mistral/i,
  },
  ...TOO_LONG.map((text): ErrorRule => ({ kind: "overflow", why: "the prompt is too long, by text (R120)", text })),
  {
    kind: "content_filter",
    why: "filter by code",
    code: /content_?filter|content_policy|ResponsibleAI|data_inspection_failed|invalid_prompt|moderation|safety|sensitive|(cyber|bio)_policy|policy_violation|^1301$/i,
  },
  { kind: "content_filter", why: "filter by text", status: { from: 200, to: 499 }, text: FILTERED },
  { kind: "auth", why: "no or wrong key, not allowed", status: [401, 403, 407] },
  {
    kind: "auth",
    why: "auth by code",
    code: /invalid_?api_?key|authentication|unauthenticated|unauthori[sz]ed|permission|access_?denied|expired_?token|UnrecognizedClient|invalid_token|^(request_)?forbidden$/i,
  },
  { kind: "auth", why: 'Google: 400 "API key not valid"', text: BAD_KEY },
  { kind: "retryable", why: "time-outs, conflicts, limits", status: [408, 409, 423, 424, 425, 429, 498, 499] },
  { kind: "invalid_request", why: "not implemented stays so", status: [501, 505] },
  { kind: "retryable", why: "the server's fault", status: { from: 500, to: 599 } },
  { kind: "invalid_request", why: "request refused", status: { from: 300, to: 499 } },
  {
    kind: "retryable",
    why: "passing fault by code",
    code: /overloaded|api_error|server_error|internal|unavailable|timeout|DEADLINE_EXCEEDED|not_?ready|stream_error|engine_|network_error|insufficient_system_resource/i,
  },
  {
    kind: "invalid_request",
    why: "request refused by code",
    code: /invalid_?(request|argument|value|parameter)|not_?found|bad_?request|validation|unsupported|unprocessable|model_not|image/i,
  },
  { kind: "retryable", why: "passing fault by text", text: PASSING },
];

/** What a failure is by the first rule that holds; unknown when none does. */
export function verdictOf(facts: ErrorFacts, rules: readonly ErrorRule[] = ERROR_RULES): Verdict {
  // Addresses of help pages ("…/settings/billing") say nothing about the failure.
  const bare = { ...facts, text: facts.text.replace(/https?:\/\/\S+/g, "") };
  const rule = rules.find((one) => holds(one, bare));
  return rule ? { kind: rule.kind, code: rule.names } : { kind: "unknown", code: undefined };
}

interface Verdict {
  kind: ErrorKind;
  code: FailureCode | undefined;
}

function holds(rule: ErrorRule, facts: ErrorFacts): boolean {
  if (rule.status && !hasStatus(rule.status, facts.status)) return false;
  if (rule.waitAboveMs !== undefined && (facts.retryAfterMs ?? 0) <= rule.waitAboveMs) return false;
  if (rule.silent && (facts.text !== "" || facts.codes.length > 0)) return false;
  if (rule.vendor && !rule.vendor.test(facts.vendor ?? "")) return false;
  if (rule.text && !rule.text.test(facts.text)) return false;
  if (rule.shape && !rule.shape(facts.text)) return false;
  const { code } = rule;
  return !code || facts.codes.some((name) => code.test(name));
}

function hasStatus(wanted: NonNullable<ErrorRule["status"]>, status: number | undefined): boolean {
  if (status === undefined) return false;
  return "from" in wanted ? status >= wanted.from && status <= wanted.to : wanted.includes(status);
}
