import type { Model } from "../../protocol/model.ts";
import type { StreamFn, StreamOptions } from "../../protocol/request.ts";
import { callApi } from "../request/call-api.ts";
import { callUrl, withoutSlashes } from "../request/call-url.ts";
import { MessagesDecoder } from "./decode.ts";
import { encodeRequest } from "./encode.ts";
import { isAdaptive } from "./thinking.ts";

const API_VERSION = "2023-06-01";
// Lets a model think between its tool calls; adaptive thinking does so by itself.
const INTERLEAVED = "interleaved-thinking-2025-05-14";
const REQUIRED: ReadonlySet<string> = new Set(["max_tokens"]);
const OAUTH = "oauth-2025-04-20";

/** The provider of api `anthropic-messages`. */
export const streamAnthropicMessages: StreamFn = (model, context, options) =>
  callApi(
    {
      url: messagesUrl(model.baseUrl),
      headers: ({ styles }) => requestHeaders(model, options, !styles.has("no-beta-header")),
      required: REQUIRED,
      encode: encodeRequest,
      decoder: (parts) => new MessagesDecoder(parts),
    },
    { model, context, options },
  );

/** The URL of the call, for base URLs with or without `/v1`; a query stays behind the path. */
export function messagesUrl(baseUrl: string): string {
  const base = URL.canParse(baseUrl) ? withoutSlashes(new URL(baseUrl).pathname) : "";
  const versioned = /\/v\d+$/.test(base) || base.endsWith("/messages");
  return callUrl(baseUrl, versioned ? "/messages" : "/v1/messages");
}

/** Headers of a request, names in lower case; the caller's win over the model's, those over ours. */
export function requestHeaders(model: Model, options: StreamOptions, interleaved = true): Record<string, string> {
  const own = lowerCased({ ...lowerCased(model.headers), ...lowerCased(options.headers) });
  const beta = [betasOf(model, options, interleaved), own["anthropic-beta"]].filter(Boolean).join(",");
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

function betasOf(model: Model, { apiKey = "", thinkingLevel = "off" }: StreamOptions, wanted: boolean): string {
  const official = URL.canParse(model.baseUrl) && new URL(model.baseUrl).hostname.endsWith("anthropic.com");
  const interleaved = wanted && official && model.reasoning && thinkingLevel !== "off" && !isAdaptive(model);
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
