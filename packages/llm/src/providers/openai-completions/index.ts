import type { ErrorOrigin } from "../../errors/classify.ts";
import { requestSecrets } from "../../errors/header-secrets.ts";
import type { AssistantMessageEventStream } from "../../protocol/events.ts";
import type { Model } from "../../protocol/model.ts";
import type { Context, StreamOptions } from "../../protocol/request.ts";
import { AssistantAssembler, createAssistantStream } from "../../stream/assembler.ts";
import type { BodyParts } from "../../stream/request-body.ts";
import { type HttpResponse, sendRequest } from "../../stream/transport.ts";
import { type ErrorAnswer, missingKey, runExchange } from "../exchange.ts";
import { type ServerTraits, traitsOf } from "./compat.ts";
import { CompletionsDecoder } from "./decode.ts";
import { encodeRequest } from "./encode.ts";
import { learnMend, mendsFor } from "./mends.ts";

/** One request to a chat-completions API (https://platform.openai.com/docs/api-reference/chat/create) or a server that follows it. */
export function stream(model: Model, context: Context, options: StreamOptions): AssistantMessageEventStream {
  const out = createAssistantStream();
  const assembler = new AssistantAssembler(model, out);
  const traits = traitsOf(model);
  const origin: ErrorOrigin = { provider: model.provider, secrets: requestSecrets(model, options) };
  const headers = requestHeaders(model, options, traits);
  if (traits.needsKey && !headers.authorization && !headers["api-key"]) {
    assembler.fail(missingKey(model.provider));
    return out;
  }
  const server = `${model.baseUrl} ${model.id}`;
  const first = encodeRequest({ model, context, options, mends: mendsFor(server) });
  for (const warning of first.warnings) options.onWarning?.(warning);
  let body: BodyParts = first.body;
  const send = async (): Promise<HttpResponse> => {
    const { signal, timeouts, network } = options;
    const response = await sendRequest({ url: callUrl(model.baseUrl), headers, body, signal, timeouts, network });
    // A long history need not stay in memory while the answer comes.
    if (response.status < 300) body = [];
    return response;
  };
  const mend = ({ status, body: answer }: ErrorAnswer): Promise<HttpResponse> | undefined => {
    if (!learnMend(server, { status, answer, request: () => Buffer.concat(body).toString() })) return undefined;
    body = encodeRequest({ model, context, options, mends: mendsFor(server) }).body;
    return send();
  };
  const decoder = new CompletionsDecoder({ assembler, origin, tools: first.tools, finishReason: traits.finishReason });
  void runExchange({ send, mend, decoder, assembler, origin });
  return out;
}

/** The URL of the call below a base URL, which may have a query (Azure's api-version). */
function callUrl(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) return baseUrl;
  const url = new URL(baseUrl);
  const path = url.pathname.replace(/\/+$/, "");
  if (!path.endsWith("/chat/completions")) url.pathname = `${path}/chat/completions`;
  return url.href;
}

function requestHeaders(model: Model, options: StreamOptions, traits: ServerTraits): Record<string, string> {
  const azure = /\.azure\.com(:|\/|$)/.test(model.baseUrl);
  const key = options.apiKey?.trim();
  const headers: Record<string, string> = {
    "content-type": "application/json",
    accept: "text/event-stream",
    "user-agent": "tau",
    ...(key ? (azure ? { "api-key": key } : { authorization: `Bearer ${key}` }) : {}),
    ...affinityHeaders(options.sessionId, traits),
  };
  for (const [name, value] of Object.entries({ ...model.headers, ...options.headers })) {
    headers[name.toLowerCase()] = value;
  }
  return headers;
}

/** Headers that keep the requests of a session on the machine that has their prefix cached. */
function affinityHeaders(sessionId: string | undefined, { affinity }: ServerTraits): Record<string, string> {
  if (!sessionId || affinity === "none") return {};
  if (affinity === "openrouter") return { "x-session-id": sessionId };
  const shared = { "x-client-request-id": sessionId, "x-session-affinity": sessionId };
  return affinity === "openai" ? { session_id: sessionId, ...shared } : shared;
}
