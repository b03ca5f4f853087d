import { classifyResponse, classifyThrown, type ErrorOrigin } from "../errors/classify.ts";
import { looksLikeHtml } from "../errors/error-body.ts";
import type { AssistantAssembler, Failure } from "../stream/assembler.ts";
import { parseJson } from "../stream/json.ts";
import type { ResponseBody } from "../stream/response-body.ts";
import { readSse, type SseFrame } from "../stream/sse.ts";
import { StreamError } from "../stream/stream-error.ts";
import type { HttpResponse } from "../stream/transport.ts";

/** Turns the frames of one wire API into block operations. */
export interface Decoder {
  /** `open`: more is to come; `finished`: the answer is whole, only usage may follow; `done`: nothing will follow. */
  readonly state: "open" | "finished" | "done";
  /** One frame. Throws a `StreamError` for a damaged one. */
  frame(frame: SseFrame): void;
  /** The whole answer as one JSON value, from a server that does not stream. */
  whole(value: unknown): void;
  /** The body has ended. Ends the answer when it was not done; throws when it is not whole. */
  end(): void;
}

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
// Servers that forget to close after the last token must not hold up the agent.
const AFTER_FINISH_MS = 5_000;

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
    await readAnswer(response.body, decoder);
  } catch (error) {
    assembler.fail(classifyThrown(error, origin));
  }
}

async function readAnswer(body: ResponseBody, decoder: Decoder): Promise<void> {
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
    await readFrames(body, decoder);
  } catch (error) {
    if (decoder.state === "open" || isAbort(error)) throw error;
  }
  decoder.end();
}

function isAbort(error: unknown): boolean {
  return error instanceof StreamError && error.reason === "aborted";
}

async function readFrames(body: ResponseBody, decoder: Decoder): Promise<void> {
  for await (const frames of readSse(body)) {
    for (const frame of frames) {
      decoder.frame(frame);
      if (decoder.state === "done") return;
    }
    if (decoder.state === "finished") body.limitIdle(AFTER_FINISH_MS);
  }
}

async function readWhole(body: ResponseBody, decoder: Decoder): Promise<void> {
  const text = await body.text(WHOLE_BODY_BYTES);
  const value = parseJson(text);
  if (value === undefined)
    throw new StreamError("bad_frame", `The server sent a damaged answer: ${text.slice(0, 120)}`);
  decoder.whole(value);
  decoder.end();
}
