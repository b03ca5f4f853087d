import type { Failure } from "../stream/assembler.ts";
import { StreamError, type StreamErrorReason } from "../stream/stream-error.ts";
import { type ErrorBody, oneLine, readErrorBody } from "./error-body.ts";
import { durationMs, retryAfterInText, retryAfterOf } from "./retry-after.ts";
import { verdictOf } from "./rules.ts";

/** Who was asked: `provider` names it in remedies, `secrets` are never shown. */
export interface ErrorOrigin {
  provider: string;
  /** Some vendors are known by their address. */
  baseUrl?: string;
  secrets?: readonly (string | undefined)[];
  /** What else may be wrong when the server knows no such address. */
  notFound?: string;
}

/** An answer that is an error: the status, its headers with names in lower case, and the body as far as it was read. */
export interface ErrorResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

const MESSAGE_CHARS = 600;
const CODE_CHARS = 100;

// Keys that a server echoes or that stand in a proxied text, by the beginnings that vendors give them.
const KEY_SHAPES =
  /\b(?:sk|pk|rk|gsk|xai|hf|ghp|gho|nvapi|r8|csk|fw|tgp)[-_][A-Za-z0-9_-]{8,}|\bAIza[A-Za-z0-9_-]{20,}|(?<=\bBearer )[^\s"',]+/g;

const KIND_OF_REASON: Record<StreamErrorReason, Failure["kind"]> = {
  bad_frame: "retryable",
  early_end: "retryable",
  connection: "retryable",
  connect_timeout: "retryable",
  first_byte_timeout: "retryable",
  idle_timeout: "retryable",
  redirect: "invalid_request",
  bad_request: "invalid_request",
  proxy: "invalid_request",
  certificate: "invalid_request",
  aborted: "aborted",
};

/** The failure that an error response is (law E1). `now` is Unix time in milliseconds, for Retry-After as a date. */
export function classifyResponse(response: ErrorResponse, origin: ErrorOrigin, now = Date.now()): Failure {
  const body = readBody(response.body, origin);
  const wait = retryAfterOf(response.headers, now) ?? waitIn(body);
  const type = response.headers["x-amzn-errortype"];
  if (type) body.codes.push(type.split(":")[0] ?? type);
  return failureOf({ body, status: response.status, wait, origin });
}

/** The failure that an error object inside a 200 stream is (R019): the whole frame, or its `error` field. */
export function classifyEvent(value: unknown, origin: ErrorOrigin): Failure {
  const body = readBody(value, origin);
  return failureOf({ body, status: body.status, wait: waitIn(body), origin });
}

/** The failure that a thrown error is: of the transport by its reason; anything else is unknown. */
export function classifyThrown(error: unknown, origin: ErrorOrigin): Failure {
  const message = present(error instanceof Error ? error.message : String(error), origin);
  if (!(error instanceof StreamError)) return { kind: "unknown", message };
  return {
    kind: KIND_OF_REASON[error.reason],
    message,
    details: error.code === undefined ? { code: error.reason } : { code: error.code },
  };
}

/** The body with codes that can be shown: some servers put anything there, also the key. */
function readBody(value: unknown, origin: ErrorOrigin): ErrorBody {
  const body = readErrorBody(value);
  return { ...body, codes: body.codes.map((code) => present(code, origin).slice(0, CODE_CHARS)) };
}

function waitIn(body: ErrorBody): number | undefined {
  const delay = body.retryDelay === undefined ? undefined : durationMs(body.retryDelay);
  if (body.estimatedSeconds !== undefined) return Math.round(body.estimatedSeconds * 1000);
  return delay ?? retryAfterInText(body.message);
}

interface Findings {
  body: ErrorBody;
  status: number | undefined;
  wait: number | undefined;
  origin: ErrorOrigin;
}

function failureOf({ body, status, wait, origin }: Findings): Failure {
  const { codes } = body;
  const vendor = `${origin.provider} ${origin.baseUrl ?? ""}`;
  // An error inside a stream came with the status of success.
  const facts = { status: status ?? 200, codes, text: body.message, retryAfterMs: wait, vendor };
  const { kind, code: ours } = verdictOf(facts);
  const details: NonNullable<Failure["details"]> = {};
  if (status !== undefined) details.status = status;
  const code = ours ?? codes[0];
  if (code !== undefined) details.code = code;
  if (wait !== undefined) details.retryAfterMs = wait;
  return { kind, message: describe({ body, status, origin }, kind), details };
}

function describe({ body, status, origin }: Omit<Findings, "wait">, kind: Failure["kind"]): string {
  const text = present(body.message, origin);
  const known = [status === undefined ? "" : `HTTP ${status}`, text === "" ? (body.codes[0] ?? "") : ""]
    .filter((part) => part !== "")
    .join(" ");
  const said =
    text === "" ? `${origin.provider} answered ${known || "with an error"}` : text + (known ? ` (${known})` : "");
  const notes: string[] = [];
  if (kind === "auth") notes.push(`check the API key for "${origin.provider}"`);
  if (status === 404) notes.push(`check the model's id and the baseUrl of "${origin.provider}"`);
  if (status === 404 && origin.notFound && !/model/i.test(said)) notes.push(origin.notFound);
  return [said, ...notes].join("; ");
}

/** One line, without secrets, not too long. */
function present(text: string, { secrets = [] }: ErrorOrigin): string {
  let line = oneLine(text);
  // Shorter ones are placeholders such as "none", whose masking would only garble the text.
  for (const secret of secrets) if (secret && secret.length >= 6) line = line.replaceAll(secret, "***");
  line = line.replace(KEY_SHAPES, "***");
  return line.length > MESSAGE_CHARS ? `${line.slice(0, MESSAGE_CHARS)}…` : line;
}
