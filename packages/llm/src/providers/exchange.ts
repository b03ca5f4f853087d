import { classifyEvent, classifyResponse, classifyThrown, type ErrorOrigin } from "../errors/classify.ts";
import { looksLikeHtml } from "../errors/error-body.ts";
import type { AssistantAssembler, Failure } from "../stream/assembler.ts";
import { parseJson } from "../stream/json.ts";
import { ResponseBody } from "../stream/response-body.ts";
import { readSse, type SseFrame } from "../stream/sse.ts";
import { StreamError } from "../stream/stream-error.ts";
import type { HttpResponse } from "../stream/transport.ts";

/** Turns the frames of one wire API into block operations. */
export interface Decoder {
  /**
   * - `open`: more is to come
   * - `resting`: no end was named, but nothing that was begun is missing: an answer when the server ends here or falls
   *   silent, and none when the connection breaks
   * - `finished`: the end was named, and more may follow
   * - `done`: nothing will follow
   */
  readonly state: "open" | "resting" | "finished" | "done";
  /** How long a finished answer waits for more, in milliseconds from the last frame that said something. */
  readonly patienceMs: number;
  /** One frame. Gives whether it said something; a keep-alive does not. Throws a `StreamError` for a damaged one. */
  frame(frame: SseFrame): boolean;
  /** The whole answer as one JSON value, from a server that does not stream. */
  whole(value: unknown): void;
  /** The body has ended. Ends the answer when it was not done; throws when it is not whole. */
  end(): void;
  /** The answer is cut here by something else: what was held back goes into its blocks. */
  cut(): void;
}

/**
 * How long a finished answer waits for more, in milliseconds (R207). What counts is what the server still owes:
 * - `early`: it named the end together with text, or before any: some name one with each chunk
 * - `usage`: it named the end in its place and may send usage and more
 * - `closing`: only the mark behind the last event is missing
 */
export const PATIENCE = { early: 30_000, usage: 10_000, closing: 4_000 } as const;

/** An error answer with its body as far as it was read. */
export interface ErrorAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export interface Exchange {
  send: () => Promise<HttpResponse>;
  decoder: Decoder;
  assembler: AssistantAssembler;
  origin: ErrorOrigin;
  /** Looks at an error answer; that of a changed request takes its place, undefined lets the error stand. */
  retry?: (answer: ErrorAnswer, failure: Failure) => Promise<HttpResponse> | undefined;
}

/** The failure of a request for which a key is needed and none is there; nothing was sent. */
export function missingKey(provider: string): Failure {
  const remedy = "give it with --api-key, in auth.json or models.json, or in the provider's environment variable";
  return { kind: "auth", message: `No API key for "${provider}"; ${remedy}` };
}

const ERROR_BODY_BYTES = 64 * 1024;
const WHOLE_BODY_BYTES = 64 * 1024 * 1024;

/** Runs one request to its end. Every failure becomes the last event of the answer; it never rejects (E1, S4). */
export async function runExchange({ send, decoder, assembler, origin, retry }: Exchange): Promise<void> {
  try {
    let response = await send();
    while (response.status < 200 || response.status > 299) {
      const { text: body, failure: broken } = await response.body.textSoFar(ERROR_BODY_BYTES);
      if (isAbort(broken)) throw broken;
      const answer: ErrorAnswer = { status: response.status, headers: response.headers, body };
      const failure = classifyResponse(answer, origin);
      const again = retry?.(answer, failure);
      if (!again) return assembler.fail(failure);
      response = await again;
    }
    const { body } = response;
    assembler.onCancel(() => body.destroy(new StreamError("aborted", "The rest of the answer was not wanted")));
    const stray = await readAnswer(body, decoder);
    if (stray !== undefined && decoder.state === "open") throw new StrayError(stray);
    decoder.end();
  } catch (error) {
    endBroken({ error, decoder, assembler, origin });
  }
}

/** A text of the server that belongs to no event, at the place where the answer broke off. */
class StrayError extends Error {}

interface Broken extends Pick<Exchange, "decoder" | "assembler" | "origin"> {
  error: unknown;
}

function endBroken({ error, decoder, assembler, origin }: Broken): void {
  if (!assembler.ended) decoder.cut();
  assembler.fail(error instanceof StrayError ? ofStrayText(error.message, origin) : classifyThrown(error, origin));
}

/** The server's own words about an answer that broke off: what nobody knows is worth another try. */
function ofStrayText(text: string, origin: ErrorOrigin): Failure {
  const failure = classifyEvent(text, origin);
  return failure.kind === "unknown" ? { ...failure, kind: "retryable" } : failure;
}

/** Reads the body into the decoder, and gives what the server said at its end beside the events. */
async function readAnswer(body: ResponseBody, decoder: Decoder): Promise<string | undefined> {
  const first = await body.peek();
  const start = first === undefined ? "" : new TextDecoder().decode(first.subarray(0, 200)).trimStart();
  if (start.startsWith("{") || start.startsWith("[")) return readWhole(body, decoder);
  if (looksLikeHtml(start)) {
    throw new StreamError(
      "bad_request",
      "The server sent a web page instead of an answer; check the provider's baseUrl",
    );
  }
  try {
    return await readFrames(body, decoder);
  } catch (error) {
    if (decoder.state === "open" || isAbort(error)) throw error;
    if (decoder.state === "resting" && !isSilence(error)) throw error;
    return undefined;
  }
}

function isSilence(error: unknown): boolean {
  return error instanceof StreamError && error.reason === "idle_timeout";
}

function isAbort(error: unknown): boolean {
  return error instanceof StreamError && error.reason === "aborted";
}

async function readFrames(body: AsyncIterable<Uint8Array>, decoder: Decoder): Promise<string | undefined> {
  for await (const frames of readSse(body)) {
    let spoke = false;
    for (const frame of frames) {
      if (frame.stray) return frame.data;
      spoke = decoder.frame(frame) || spoke;
      if (decoder.state === "done") return undefined;
    }
    // A server that forgets to end must not hold up the agent, whatever it sends to keep the connection.
    if (spoke && body instanceof ResponseBody) body.waitAtMost(decoder.state === "open" ? 0 : decoder.patienceMs);
  }
  return undefined;
}

/** Not streamed: one JSON value, or one a line, or an error with frames behind it. */
async function readWhole(body: ResponseBody, decoder: Decoder): Promise<string | undefined> {
  const { text, failure } = await body.textSoFar(WHOLE_BODY_BYTES);
  const value = parseJson(text);
  if (value !== undefined) {
    decoder.whole(value);
    return undefined;
  }
  const stray = await readFrames(piecesOf(text), decoder);
  if (failure !== undefined && decoder.state === "open") throw failure;
  return stray;
}

async function* piecesOf(text: string): AsyncGenerator<Uint8Array, void, undefined> {
  yield Buffer.from(text);
}
