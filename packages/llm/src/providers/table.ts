import type { AssistantMessageEvent, AssistantMessageEventStream } from "../protocol/events.ts";
import type { Model } from "../protocol/model.ts";
import type { Context, StreamFn, StreamOptions } from "../protocol/request.ts";
import { AssistantAssembler, createAssistantStream, type Failure } from "../stream/assembler.ts";

/** One wire API. */
interface ApiRow {
  api: string;
  /** Loads the provider when it is first used, so that a start pays for one API only. */
  load: () => Promise<StreamFn>;
}

const APIS: readonly ApiRow[] = [
  { api: "openai-completions", load: async () => (await import("./openai-completions/index.ts")).stream },
  {
    api: "anthropic-messages",
    load: async () => (await import("./anthropic-messages/index.ts")).streamAnthropicMessages,
  },
  { api: "openai-responses", load: async () => (await import("./openai-responses/index.ts")).stream },
  { api: "scripted", load: async () => (await import("../scripted/index.ts")).streamScripted },
];

const loaded = new Map<string, StreamFn>();

/**
 * Starts one request with the API that the model names. Never throws: whatever fails, also an unknown API or a
 * missing key, is the last event of the stream, with a kind and a text that says how to fix it.
 */
export function stream(model: Model, context: Context, options: StreamOptions = {}): AssistantMessageEventStream {
  const row = APIS.find(({ api }) => api === model.api);
  if (!row) return failed(model, unknownApi(model));
  const start = loaded.get(row.api);
  if (start) return started(start, model, context, options);
  return deferred(
    row.load().then(
      (fn) => {
        loaded.set(row.api, fn);
        return started(fn, model, context, options);
      },
      (error) => failed(model, brokenProvider(error)),
    ),
  );
}

/** The names of the APIs that `stream` knows. */
export function knownApis(): string[] {
  return APIS.map(({ api }) => api);
}

type StartArguments = [model: Model, context: Context, options: StreamOptions];

function started(start: StreamFn, ...[model, context, options]: StartArguments): AssistantMessageEventStream {
  try {
    const answer = start(model, context, options);
    if (!(answer instanceof Promise)) return answer;
    return deferred(answer.catch((error) => failed(model, brokenProvider(error))));
  } catch (error) {
    return failed(model, brokenProvider(error));
  }
}

/** A stream that is not there yet; `pending` never rejects. Once it is there, reading it costs nothing more. */
function deferred(pending: Promise<AssistantMessageEventStream>): AssistantMessageEventStream {
  return {
    result: async () => (await pending).result(),
    [Symbol.asyncIterator]() {
      let inner: AsyncIterator<AssistantMessageEvent> | undefined;
      const open = async () => {
        inner ??= (await pending)[Symbol.asyncIterator]();
        return inner;
      };
      return {
        next: () => (inner ? inner.next() : open().then((iterator) => iterator.next())),
        return: async () => (await (await open()).return?.()) ?? { done: true, value: undefined },
      };
    },
  };
}

function failed(model: Model, failure: Failure): AssistantMessageEventStream {
  const out = createAssistantStream();
  new AssistantAssembler(model, out).fail(failure);
  return out;
}

function unknownApi(model: Model): Failure {
  const known = knownApis().join(", ");
  const message = `The model ${model.provider}/${model.id} names the API "${model.api}", which tau does not know; set "api" in models.json to one of: ${known}`;
  return { kind: "invalid_request", message };
}

function brokenProvider(error: unknown): Failure {
  return { kind: "unknown", message: error instanceof Error ? error.message : String(error) };
}
