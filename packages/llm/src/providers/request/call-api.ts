import type { ErrorOrigin } from "../../errors/classify.ts";
import { requestSecrets } from "../../errors/header-secrets.ts";
import type { AssistantMessageEventStream } from "../../protocol/events.ts";
import type { Model } from "../../protocol/model.ts";
import type { Context, StreamOptions } from "../../protocol/request.ts";
import type { Tool } from "../../protocol/tool.ts";
import { AssistantAssembler, createAssistantStream, type Failure } from "../../stream/assembler.ts";
import type { BodyParts } from "../../stream/request-body.ts";
import { type HttpResponse, sendRequest } from "../../stream/transport.ts";
import { adjustmentsFor, rememberAdjustments } from "../adjust/adjustment-memory.ts";
import type { Adjustments } from "../adjust/adjustments.ts";
import { readRefusal, type SentRequest } from "../adjust/refusal.ts";
import { changeFor } from "../adjust/table.ts";
import { type Decoder, type ErrorAnswer, missingKey, runExchange } from "../exchange.ts";

/** A request ready to be sent. */
export interface EncodedRequest {
  body: BodyParts;
  /** The fields of the body beside the conversation and the tools: what an adjustment can change. */
  fields: Record<string, unknown>;
  /** The tools of the request under their own names. */
  tools: readonly Tool[];
  /** What could not be sent as it is, one line each. */
  warnings: readonly string[];
}

export interface EncodeInput {
  model: Model;
  context: Context;
  options: StreamOptions;
  /** What this server was found to need. */
  adjustments: Adjustments;
}

/** What an API does its own way. */
export interface WireApi {
  url: string;
  /** Headers with the key, names in lower case. */
  headers: (adjustments: Adjustments) => Record<string, string>;
  /** Without a key the request would fail anyway. */
  lacksKey?: boolean;
  /** What may be wrong when the server knows no such path. */
  notFound?: string;
  /** Fields without which the API takes no request. */
  required?: ReadonlySet<string>;
  encode: (input: EncodeInput) => EncodedRequest;
  decoder: (parts: { assembler: AssistantAssembler; origin: ErrorOrigin; tools: readonly Tool[] }) => Decoder;
}

export interface ApiRequest {
  model: Model;
  context: Context;
  options: StreamOptions;
}

// A server that refuses one thing after the other is given up.
const MAX_CHANGES = 6;
const NO_FIELDS: ReadonlySet<string> = new Set();

/**
 * One request to an API. A refusal that says what to do is answered by a changed request, a few times at most; what is
 * learned of the server is shown once and holds for later requests.
 */
export function callApi(api: WireApi, request: ApiRequest): AssistantMessageEventStream {
  const { model, options } = request;
  const out = createAssistantStream();
  const assembler = new AssistantAssembler(model, out);
  const origin: ErrorOrigin = {
    provider: model.provider,
    baseUrl: model.baseUrl,
    secrets: requestSecrets(model, options),
    ...(api.notFound ? { notFound: api.notFound } : {}),
  };
  if (api.lacksKey) {
    assembler.fail(missingKey(model.provider));
    return out;
  }
  const sender = new Sender(api, request);
  for (const warning of sender.encoded.warnings) options.onWarning?.(warning);
  void runExchange({
    send: () => sender.send(),
    retry: (answer, failure) => sender.retry(answer, failure),
    decoder: api.decoder({ assembler, origin, tools: sender.encoded.tools }),
    assembler,
    origin,
  });
  return out;
}

/** Sends a request and, when it is refused, the changed ones. */
class Sender {
  readonly #api: WireApi;
  readonly #request: ApiRequest;
  #adjustments: Adjustments;
  #encoded: EncodedRequest;
  #changes = 0;

  constructor(api: WireApi, request: ApiRequest) {
    this.#api = api;
    this.#request = request;
    this.#adjustments = adjustmentsFor(request.model);
    this.#encoded = this.#encode();
  }

  get encoded(): EncodedRequest {
    return this.#encoded;
  }

  async send(): Promise<HttpResponse> {
    const { signal, timeouts, network } = this.#request.options;
    const { url } = this.#api;
    const headers = this.#api.headers(this.#adjustments);
    const response = await sendRequest({ url, headers, body: this.#encoded.body, signal, timeouts, network });
    // A long history need not stay in memory while the answer comes.
    if (response.status < 300) this.#encoded = { ...this.#encoded, body: [] };
    return response;
  }

  /** The answer to a changed request; undefined when the refusal stands. */
  retry(answer: ErrorAnswer, { kind }: Failure): Promise<HttpResponse> | undefined {
    const { model, options } = this.#request;
    if (this.#changes === MAX_CHANGES) return undefined;
    const change = changeFor(readRefusal(answer, { kind, sent: this.#sent() }));
    if (!change) return undefined;
    this.#changes++;
    rememberAdjustments(model, change.later);
    options.onWarning?.(`${model.provider}/${model.id} ${change.says}.`);
    this.#adjustments = change.now;
    this.#encoded = this.#encode();
    return this.send();
  }

  #encode(): EncodedRequest {
    return this.#api.encode({ ...this.#request, adjustments: this.#adjustments });
  }

  #sent(): SentRequest {
    const { body, fields } = this.#encoded;
    return {
      fields,
      messages: this.#request.context.messages,
      adjustments: this.#adjustments,
      required: this.#api.required ?? NO_FIELDS,
      holds: (text) => body.some((part) => Buffer.from(part.buffer, part.byteOffset, part.length).includes(text)),
    };
  }
}
