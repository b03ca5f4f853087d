import type { AssistantMessageEventStream } from "../../protocol/events.ts";
import type { Model } from "../../protocol/model.ts";
import type { Context, StreamOptions } from "../../protocol/request.ts";
import { callApi } from "../request/call-api.ts";
import { openAIRequest } from "../request/openai-request.ts";
import { type ServerTraits, traitsOf } from "./compat.ts";
import { ResponsesDecoder } from "./decode.ts";
import { encodeRequest } from "./encode.ts";

const CHAT_ONLY = 'a server of chat completions only needs "api": "openai-completions" in models.json';

/** One request to a Responses API (https://platform.openai.com/docs/api-reference/responses) or a server that follows it. */
export function stream(model: Model, context: Context, options: StreamOptions): AssistantMessageEventStream {
  const traits = traitsOf(model);
  const { affinity, needsKey } = traits;
  const more = affinityHeaders(options.sessionId, affinity);
  const api = {
    ...openAIRequest({ model, options }, { path: "/responses", more, needsKey }),
    notFound: CHAT_ONLY,
    encode: encodeRequest,
    decoder: (parts: ConstructorParameters<typeof ResponsesDecoder>[0]) => new ResponsesDecoder(parts),
  };
  return callApi(api, { model, context, options });
}

/** Headers that keep the requests of a session on the machine that has their prefix cached. */
function affinityHeaders(sessionId: string | undefined, affinity: ServerTraits["affinity"]): Record<string, string> {
  if (!sessionId || affinity === "none") return {};
  if (affinity === "openrouter") return { "x-session-id": sessionId };
  const request = { "x-client-request-id": sessionId };
  return affinity === "openai" ? { "session-id": sessionId, ...request } : request;
}
