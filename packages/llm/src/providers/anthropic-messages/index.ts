import { requestSecrets } from "../../errors/header-secrets.ts";
import type { Model } from "../../protocol/model.ts";
import type { StreamFn, StreamOptions } from "../../protocol/request.ts";
import { AssistantAssembler, createAssistantStream } from "../../stream/assembler.ts";
import { sendRequest } from "../../stream/transport.ts";
import { runExchange } from "../exchange.ts";
import { MessagesDecoder } from "./decode.ts";
import { encodeRequest } from "./encode.ts";
import { isAdaptive } from "./thinking.ts";

const API_VERSION = "2023-06-01";
// Lets a model think between its tool calls; adaptive thinking does so by itself.
const INTERLEAVED = "interleaved-thinking-2025-05-14";
const OAUTH = "oauth-2025-04-20";

/** The provider of api `anthropic-messages`. */
export const streamAnthropicMessages: StreamFn = (model, context, options) => {
  const stream = createAssistantStream();
  const assembler = new AssistantAssembler(model, stream);
  const { body, tools, warnings } = encodeRequest(model, context, options);
  for (const warning of warnings) options.onWarning?.(warning);
  const origin = { provider: model.provider, secrets: requestSecrets(model, options) };
  const { signal, timeouts, network } = options;
  const send = () =>
    sendRequest({
      url: messagesUrl(model.baseUrl),
      headers: requestHeaders(model, options),
      body,
      signal,
      timeouts,
      network,
    });
  void runExchange({ send, decoder: new MessagesDecoder({ assembler, origin, tools }), assembler, origin });
  return stream;
};

/** The URL of the call, for base URLs with or without `/v1`. */
export function messagesUrl(baseUrl: string): string {
  const base = baseUrl.replace(/\/+$/, "");
  if (base.endsWith("/messages")) return base;
  return /\/v\d+$/.test(base) ? `${base}/messages` : `${base}/v1/messages`;
}

/** Headers of a request, names in lower case; the caller's win over the model's, those over ours. */
export function requestHeaders(model: Model, options: StreamOptions): Record<string, string> {
  const own = lowerCased({ ...lowerCased(model.headers), ...lowerCased(options.headers) });
  const beta = [betasOf(model, options), own["anthropic-beta"]].filter(Boolean).join(",");
  return {
    "content-type": "application/json",
    accept: "text/event-stream",
    "anthropic-version": API_VERSION,
    ...(own.authorization || own["x-api-key"] ? {} : keyHeader(options.apiKey)),
    ...affinityHeader(model, options),
    ...own,
    ...(beta ? { "anthropic-beta": beta } : {}),
  };
}

function keyHeader(apiKey: string | undefined): Record<string, string> {
  if (!apiKey) return {};
  return isOAuthToken(apiKey) ? { authorization: `Bearer ${apiKey}` } : { "x-api-key": apiKey };
}

const isOAuthToken = (key: string) => key.startsWith("sk-ant-oat");

function betasOf(model: Model, { apiKey = "", thinkingLevel = "off" }: StreamOptions): string {
  const official = URL.canParse(model.baseUrl) && new URL(model.baseUrl).hostname.endsWith("anthropic.com");
  const interleaved = official && model.reasoning && thinkingLevel !== "off" && !isAdaptive(model);
  return [isOAuthToken(apiKey) ? OAUTH : "", interleaved ? INTERLEAVED : ""].filter(Boolean).join(",");
}

function affinityHeader({ baseUrl, compat }: Model, { sessionId }: StreamOptions): Record<string, string> {
  const wanted = compat?.sendSessionAffinityHeaders ?? baseUrl.includes("openrouter.ai");
  if (!sessionId || wanted !== true) return {};
  const openRouter = compat?.sessionAffinityFormat === "openrouter" || baseUrl.includes("openrouter.ai");
  return { [openRouter ? "x-session-id" : "x-session-affinity"]: sessionId };
}

function lowerCased(headers: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
