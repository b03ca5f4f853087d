import type { AssistantMessageEventStream } from "../../protocol/events.ts";
import type { Model } from "../../protocol/model.ts";
import type { Context, StreamOptions } from "../../protocol/request.ts";
import { callApi } from "../request/call-api.ts";
import { openAIRequest } from "../request/openai-request.ts";
import { type ServerTraits, traitsOf } from "./compat.ts";
import { CompletionsDecoder, type DecoderOptions } from "./decode.ts";
import { encodeRequest } from "./encode.ts";

/** One request to a chat-completions API (https://platform.openai.com/docs/api-reference/chat/create) or a server that follows it. */
export function stream(model: Model, context: Context, options: StreamOptions): AssistantMessageEventStream {
  const traits = traitsOf(model);
  const { affinity, needsKey, finishReason } = traits;
  const more = affinityHeaders(options.sessionId, affinity);
  const api = {
    ...openAIRequest({ model, options }, { path: "/chat/completions", more, needsKey }),
    encode: encodeRequest,
    decoder: (parts: Omit<DecoderOptions, "finishReason">) => new CompletionsDecoder({ ...parts, finishReason }),
  };
  return callApi(api, { model, context, options });
}

/** Headers that keep the requests of a session on the machine that has their prefix cached. */
function affinityHeaders(sessionId: string | undefined, affinity: ServerTraits["affinity"]): Record<string, string> {
  if (!sessionId || affinity === "none") return {};
  if (affinity === "openrouter") return { "x-session-id": sessionId };
  const shared = { "x-client-request-id": sessionId, "x-session-affinity": sessionId };
  return affinity === "openai" ? { session_id: sessionId, ...shared } : shared;
}
