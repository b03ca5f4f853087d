import type { AssistantMessageEventStream } from "../../protocol/events.ts";
import type { Model } from "../../protocol/model.ts";
import type { Context, StreamOptions } from "../../protocol/request.ts";
import { callOpenAI } from "../request/openai-call.ts";
import { type ServerTraits, traitsOf } from "./compat.ts";
import { ResponsesDecoder } from "./decode.ts";
import { encodeRequest } from "./encode.ts";
import { mends } from "./mends.ts";

const CHAT_ONLY = 'a server of chat completions only needs "api": "openai-completions" in models.json';

/** One request to a Responses API (https://platform.openai.com/docs/api-reference/responses) or a server that follows it. */
export function stream(model: Model, context: Context, options: StreamOptions): AssistantMessageEventStream {
  const traits = traitsOf(model);
  const api = {
    ...{ path: "/responses", headers: affinityHeaders(options.sessionId, traits), needsKey: traits.needsKey },
    ...{ mends, encode: encodeRequest, notFound: CHAT_ONLY },
    decoder: (parts: ConstructorParameters<typeof ResponsesDecoder>[0]) => new ResponsesDecoder(parts),
  };
  return callOpenAI(api, model, context, options);
}

/** Headers that keep the requests of a session on the machine that has their prefix cached. */
function affinityHeaders(sessionId: string | undefined, { affinity }: ServerTraits): Record<string, string> {
  if (!sessionId || affinity === "none") return {};
  if (affinity === "openrouter") return { "x-session-id": sessionId };
  const request = { "x-client-request-id": sessionId };
  return affinity === "openai" ? { "session-id": sessionId, ...request } : request;
}
