import type { AssistantMessageEvent, AssistantMessageEventStream } from "../protocol/events.ts";
import type { AssistantMessage } from "../protocol/message.ts";
import type { Model } from "../protocol/model.ts";
import type { StreamFn, StreamOptions } from "../protocol/request.ts";
import { createAssistantStream, emptyAssistantMessage, type Failure } from "../stream/assembler.ts";
import { foldWireEvent } from "../stream/fold.ts";
import { isRecord } from "../stream/json.ts";
import { StreamError } from "../stream/stream-error.ts";
import { priceUsage, tokenCount } from "../stream/usage.ts";
import { classifyEvent, type ErrorOrigin } from "./classify.ts";
import { classifyForeign } from "./foreign-error.ts";

/**
 * Makes the replies of a `streamFn` of your own as complete as those of the providers here, so that a session can
 * recover from its failures and count its costs:
 * - an error that it throws, before the reply or in the middle of it, becomes the last event, with what had arrived
 * - an error without an `errorKind` gets one by the table of error texts and statuses
 * - usage without a cost gets the cost by `model.cost`
 *
 * What it gives otherwise stays as it is. A session does this by itself; it is for those who use the loop alone.
 */
export function completeStream(streamFn: StreamFn): StreamFn {
  return (model, context, options) => {
    const request: Request = { model, options, origin: originOf(model, options) };
    const failed = (error: unknown) => failedStream(request, error);
    try {
      const stream = streamFn(model, context, options);
      return stream instanceof Promise
        ? stream.then((given) => complete(given, request), failed)
        : complete(stream, request);
    } catch (error) {
      return failed(error);
    }
  };
}

interface Request {
  readonly model: Model;
  readonly options: StreamOptions;
  readonly origin: ErrorOrigin;
}

function originOf({ provider, baseUrl }: Model, { apiKey }: StreamOptions): ErrorOrigin {
  return { provider, baseUrl, secrets: [apiKey] };
}

function failedStream(request: Request, error: unknown): AssistantMessageEventStream {
  const stream = createAssistantStream();
  const last = failureEvent(emptyAssistantMessage(request.model), request, error);
  stream.push(last);
  stream.end(last.error);
  return stream;
}

function complete(stream: AssistantMessageEventStream, request: Request): AssistantMessageEventStream {
  // Something else than a stream is a bug of its maker, which the reader names.
  if (typeof stream?.[Symbol.asyncIterator] !== "function") return stream;
  const read = () => new CompleteIterator(stream[Symbol.asyncIterator](), request);
  return {
    [Symbol.asyncIterator]: read,
    result: () => (typeof stream.result === "function" ? resultOf(stream, request) : readToEnd(read(), request)),
    cancel: () => stream.cancel?.(),
  };
}

async function resultOf(stream: AssistantMessageEventStream, request: Request): Promise<AssistantMessage> {
  try {
    return completeMessage(await stream.result(), request);
  } catch (error) {
    return failureEvent(emptyAssistantMessage(request.model), request, error).error;
  }
}

/** For an async generator, which has no `result`. */
async function readToEnd(events: CompleteIterator, request: Request): Promise<AssistantMessage> {
  for (let step = await events.next(); !step.done; step = await events.next()) {
    if (step.value.type === "done") return step.value.message;
    if (step.value.type === "error") return step.value.error;
  }
  const error = new StreamError("early_end", "The stream ended before the reply was complete.");
  return failureEvent(events.partial, request, error).error;
}

/** Gives the events of a stream; its last one is complete, and a throw becomes one. */
class CompleteIterator implements AsyncIterator<AssistantMessageEvent, undefined> {
  readonly #inner: AsyncIterator<AssistantMessageEvent>;
  readonly #request: Request;
  #over = false;
  /** The reply so far. */
  partial: AssistantMessage;

  constructor(inner: AsyncIterator<AssistantMessageEvent>, request: Request) {
    this.#inner = inner;
    this.#request = request;
    this.partial = emptyAssistantMessage(request.model);
  }

  async next(): Promise<IteratorResult<AssistantMessageEvent, undefined>> {
    if (this.#over) return { done: true, value: undefined };
    try {
      const step = await this.#inner.next();
      return step.done ? { done: true, value: undefined } : { done: false, value: this.#seen(step.value) };
    } catch (error) {
      this.#over = true;
      return { done: false, value: failureEvent(this.partial, this.#request, error) };
    }
  }

  async return(): Promise<IteratorResult<AssistantMessageEvent, undefined>> {
    this.#over = true;
    await this.#inner.return?.();
    return { done: true, value: undefined };
  }

  #seen(event: AssistantMessageEvent): AssistantMessageEvent {
    if (event?.type === "done") return { ...event, message: completeMessage(event.message, this.#request) };
    if (event?.type === "error") return { ...event, error: completeMessage(event.error, this.#request) };
    if (isRecord(event)) this.partial = event.partial ?? foldWireEvent(this.partial, event);
    return event;
  }
}

function failureEvent(partial: AssistantMessage, { origin, options }: Request, error: unknown) {
  const failure: Failure = options.signal?.aborted
    ? { kind: "aborted", message: "The request was aborted." }
    : classifyForeign(error, origin);
  const reason: "aborted" | "error" = failure.kind === "aborted" ? "aborted" : "error";
  const message: AssistantMessage = {
    ...partial,
    stopReason: reason,
    errorMessage: failure.message,
    errorKind: failure.kind,
    ...(failure.details && { errorDetails: failure.details }),
  };
  return { type: "error" as const, reason, error: message };
}

function completeMessage(message: AssistantMessage, { model, origin }: Request): AssistantMessage {
  if (!isRecord(message)) return message;
  return { ...message, ...missingKind(message, origin), ...missingCost(message, model) };
}

/** The kind of a failure of which its maker says none. */
function missingKind(
  { stopReason, errorKind, errorMessage, errorDetails = {} }: AssistantMessage,
  origin: ErrorOrigin,
) {
  if (stopReason !== "error" || (errorKind !== undefined && errorKind !== "unknown")) return {};
  const { status, code } = errorDetails;
  const found = classifyEvent({ message: errorMessage, code, ...(status !== undefined && { status }) }, origin);
  return { errorKind: found.kind, errorDetails: { ...found.details, ...errorDetails } };
}

/** The cost of usage that came without one. */
function missingCost({ usage }: AssistantMessage, { cost }: Model) {
  if (!isRecord(usage) || !isRecord(cost) || (isRecord(usage.cost) && usage.cost.total > 0)) return {};
  const count = (value: unknown) => tokenCount(value) ?? 0;
  const { input, output, cacheRead, cacheWrite } = usage;
  const tokens = {
    input: count(input),
    output: count(output),
    cacheRead: count(cacheRead),
    cacheWrite: count(cacheWrite),
  };
  return { usage: { ...usage, ...priceUsage(tokens, cost) } };
}
