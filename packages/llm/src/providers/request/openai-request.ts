import type { Model } from "../../protocol/model.ts";
import type { StreamOptions } from "../../protocol/request.ts";
import { callUrl } from "./call-url.ts";

/** Where a request to an API of OpenAI's kind goes and with what. */
export interface OpenAIRequest {
  url: string;
  headers: () => Record<string, string>;
  /** Whether a key is needed and none is there. */
  lacksKey: boolean;
}

/**
 * URL and headers of a call.
 * @param path of the call, behind the base URL; with a slash
 * @param more headers beyond those of all APIs; those of the model and of the caller win over them
 */
export function openAIRequest(
  { model, options }: { model: Model; options: StreamOptions },
  { path, more, needsKey }: { path: string; more: Record<string, string>; needsKey: boolean },
): OpenAIRequest {
  const headers = requestHeaders(model, options, more);
  return {
    url: callUrl(model.baseUrl, path),
    headers: () => headers,
    lacksKey: needsKey && !headers.authorization && !headers["api-key"],
  };
}

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
