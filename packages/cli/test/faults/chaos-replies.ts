import {
  type ScriptBlock,
  text,
  thinking,
  toolCall,
  type WireApi,
  type WireFault,
  type WireReply,
} from "@tau/llm/testing";
import type { Dice } from "./dice.ts";

/** Tools of chaos sessions, by what they do; the last one does not exist. */
const TOOL_NAMES = ["ok", "fails", "large", "slow", "deaf", "ordered", "steers", "nothing", "missing_tool"] as const;

type Status = Extract<WireFault, { mode: "status" }>;

const refusal = (status: number, error: object | string, headers: Record<string, string> = {}): Status => ({
  mode: "status",
  status,
  body: typeof error === "string" ? error : { type: "error", error },
  headers,
});

/** Answers with an error status: each kind of error, and the odd bodies of proxies. */
const STATUSES: readonly Status[] = [
  refusal(
    429,
    { type: "rate_limit_error", message: "Rate limit reached, too many tokens per min" },
    { "retry-after": "1" },
  ),
  refusal(429, { type: "insufficient_quota", code: "insufficient_quota", message: "You exceeded your current quota" }),
  refusal(402, { type: "billing_error", message: "payment required" }),
  refusal(401, { type: "authentication_error", message: "invalid x-api-key" }),
  refusal(400, {
    type: "invalid_request_error",
    code: "context_length_exceeded",
    message: "prompt is too long: 9 tokens > 8",
  }),
  refusal(413, "Request Entity Too Large"),
  refusal(400, { type: "invalid_request_error", message: "temperature: out of range" }),
  refusal(400, { type: "invalid_request_error", code: "content_filter", message: "flagged by the content policy" }),
  refusal(500, { type: "api_error", message: "Internal server error" }),
  refusal(502, "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>", {
    "content-type": "text/html",
  }),
  refusal(503, { message: "the model is loading" }),
  refusal(529, { type: "overloaded_error", message: "Overloaded" }),
];

const STREAM_ERRORS: readonly Record<string, unknown>[] = [
  { type: "overloaded_error", message: "Overloaded" },
  { type: "api_error", message: "Internal server error" },
  {
    type: "invalid_request_error",
    code: "context_length_exceeded",
    message: "This model's maximum context length is 8 tokens",
  },
  { type: "rate_limit_error", message: "Rate limit reached" },
  { type: "insufficient_quota", message: "You exceeded your current quota" },
  { message: "what was that" },
];

const BAD_ARGUMENTS = [
  "",
  "null",
  "[]",
  '"text"',
  '{"n": 1',
  '{"n": 1} and more',
  '"{\\"n\\": 1}"',
  '{"n": "\\u0000"}',
  "{n: 1}",
];

/** A whole answer, now and then an odd one. */
function soundReply(dice: Dice): WireReply {
  const size = { chunkSize: dice.pick([1, 7, 64, 1000]) };
  const kind = dice.next();
  if (kind < 0.04) return { content: [] };
  if (kind < 0.08) return { content: words(dice), stopReason: "length", ...size };
  if (kind < 0.12) return { content: calls(dice), stopReason: "length", ...size };
  if (kind < 0.15) return { content: [thinking("only a thought")] };
  if (kind < 0.45) return { content: words(dice), ...size };
  return { content: [...(dice.chance(0.3) ? words(dice) : []), ...calls(dice)], ...size };
}

function words(dice: Dice): ScriptBlock[] {
  const said = text(
    Array.from({ length: dice.int(1, 30) }, () => dice.pick(["word", "größer", "思", "🙂", "\n"])).join(" "),
  );
  return dice.chance(0.3) ? [thinking("I think."), said] : [said];
}

function calls(dice: Dice): ScriptBlock[] {
  return dice.list(dice.int(1, 4), () => {
    const call = toolCall(dice.pick(TOOL_NAMES), { n: dice.int(0, 1_000_000) });
    const kind = dice.next();
    if (kind < 0.1) return { ...call, rawArguments: dice.pick(BAD_ARGUMENTS) };
    if (kind < 0.14) return { ...call, id: "same_id" };
    if (kind < 0.16) return { ...call, name: "" };
    if (kind < 0.18) return { ...call, arguments: { n: "12", more: [1] } };
    return call;
  });
}

/** What goes wrong with an answer. */
function fault(dice: Dice): WireFault {
  const afterDeltas = dice.int(0, 4);
  return dice.pick<() => WireFault>([
    () => dice.pick(STATUSES),
    () => dice.pick(STATUSES),
    () => ({ mode: "error", afterDeltas, error: dice.pick(STREAM_ERRORS) }),
    () => ({ mode: "reset", afterDeltas }),
    () => ({ mode: "half_frame", afterDeltas }),
    () => ({ mode: "no_end", afterDeltas }),
    () => ({ mode: dice.pick(["stall", "headers_only", "no_response"] as const) }),
    () => ({
      mode: "raw",
      body: dice.pick(["", "data: {\n\n", "<html>hello</html>", 'data: {"a":\ndata: 1}\n\n', "data: null\n\n"]),
    }),
  ])();
}

/** Any answer of a provider: two of three are sound. */
export function chaosReply(dice: Dice, api: WireApi): WireReply {
  const reply = soundReply(dice);
  if (dice.chance(0.33)) return { ...reply, wire: fault(dice) };
  const omitToolIds = api === "openai-completions" && dice.chance(0.1);
  return { ...reply, ...(omitToolIds && { quirks: { omitToolIds } }) };
}
