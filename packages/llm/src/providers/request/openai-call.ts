import type { ErrorOrigin } from "../../errors/classify.ts";
import { requestSecrets } from "../../errors/header-secrets.ts";
import type { AssistantMessageEventStream } from "../../protocol/events.ts";
import type { Model } from "../../protocol/model.ts";
import type { Context, StreamOptions } from "../../protocol/request.ts";
import type { Tool } from "../../protocol/tool.ts";
import { AssistantAssembler, createAssistantStream } from "../../stream/assembler.ts";
import type { BodyParts } from "../../stream/request-body.ts";
import { type HttpResponse, sendRequest } from "../../stream/transport.ts";
import type { MendMemory } from "../adjust/mend-memory.ts";
import { type Decoder, type ErrorAnswer, missingKey, runExchange } from "../exchange.ts";

/** A request ready to be sent. */
export interface EncodedRequest {
  body: BodyParts;
  /** The tools of the request under their own names. */
  tools: readonly Tool[];
  /** What could not be sent as it is, one line each. */
  warnings: readonly string[];
}

export interface EncodeInput<Mend> {
  model: Model;
  context: Context;
  options: StreamOptions;
  /** What this server refused before. */
  mends: ReadonlySet<Mend>;
}

/** What an API of OpenAI's kind does its own way. */
export interface OpenAIApi<Mend extends string> {
  /** Of the call, behind the base URL; with a slash. */
  path: string;
  /** Headers beyond those of all. */
  headers: Record<string, string>;
  /** Without a key the request would fail anyway. */
  needsKey: boolean;
  /** What may be wrong when the server knows no such path. */
  notFound?: string;
  mends: MendMemory<Mend>;
  encode(input: EncodeInput<Mend>): EncodedRequest;
  decoder(parts: { assembler: AssistantAssembler; origin: ErrorOrigin; tools: readonly Tool[] }): Decoder;
}

/** One request to an API of OpenAI's kind. What a server refuses is left out in one more request and remembered. */
export function callOpenAI<Mend extends string>(
  api: OpenAIApi<Mend>,
  ...[model, context, options]: [Model, Context, StreamOptions]
): AssistantMessageEventStream {
  const out = createAssistantStream();
  const assembler = new AssistantAssembler(model, out);
  const secrets = requestSecrets(model, options);
  const origin: ErrorOrigin = {
    provider: model.provider,
    secrets,
    ...(api.notFound ? { notFound: api.notFound } : {}),
  };
  const headers = requestHeaders(model, options, api.headers);
  if (api.needsKey && !headers.authorization && !headers["api-key"]) {
    assembler.fail(missingKey(model.provider));
    return out;
  }
  const server = `${model.baseUrl} ${model.id}`;
  const encode = () => api.encode({ model, context, options, mends: api.mends.for(server) });
  const first = encode();
  for (const warning of first.warnings) options.onWarning?.(warning);
  let body: BodyParts = first.body;
  const send = async (): Promise<HttpResponse> => {
    const { signal, timeouts, network } = options;
    const url = callUrl(model.baseUrl, api.path);
    const response = await sendRequest({ url, headers, body, signal, timeouts, network });
    // A long history need not stay in memory while the answer comes.
    if (response.status < 300) body = [];
    return response;
  };
  const mend = ({ status, body: answer }: ErrorAnswer): Promise<HttpResponse> | undefined => {
    if (!api.mends.learn(server, { status, answer, request: () => Buffer.concat(body).toString() })) return undefined;
    body = encode().body;
    return send();
  };
  void runExchange({ send, mend, decoder: api.decoder({ assembler, origin, tools: first.tools }), assembler, origin });
  return out;
}

/** The URL of the call below a base URL, which may have a query (Azure's api-version). */
function callUrl(baseUrl: string, path: string): string {
  if (!URL.canParse(baseUrl)) return baseUrl;
  const url = new URL(baseUrl);
  const base = url.pathname.replace(/\/+$/, "");
  if (!base.endsWith(path)) url.pathname = `${base}${path}`;
  return url.href;
}

/** Headers with those of the model and of the caller on top, names in lower case. */
function requestHeaders(model: Model, options: StreamOptions, more: Record<string, string>): Record<string, string> {
  const azure = /\.azure\.com(:|\/|$)/.test(model.baseUrl);
  const key = options.apiKey?.trim();
  const headers: Record<string, string> = {
    "content-type": "application/json",
    accept: "text/event-stream",
    "user-agent": "tau",
    ...(key ? (azure ? { "api-key": key } : { authorization: `Bearer ${key}` }) : {}),
    ...more,
  };
  for (const [name, value] of Object.entries({ ...model.headers, ...options.headers })) {
    headers[name.toLowerCase()] = value;
  }
  return headers;
}
