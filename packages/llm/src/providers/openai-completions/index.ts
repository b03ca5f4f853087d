import type { AssistantMessageEventStream } from "../../protocol/events.ts";
import type { Model } from "../../protocol/model.ts";
import type { Context, StreamOptions } from "../../protocol/request.ts";
import { callOpenAI } from "../request/openai-call.ts";
import { type ServerTraits, traitsOf } from "./compat.ts";
import { CompletionsDecoder, type DecoderOptions } from "./decode.ts";
import { encodeRequest } from "./encode.ts";
import { mends } from "./mends.ts";

/** One request to a chat-completions API (https://platform.openai.com/docs/api-reference/chat/create) or a server that follows it. */
export function stream(model: Model, context: Context, options: StreamOptions): AssistantMessageEventStream {
  const traits = traitsOf(model);
  const api = {
    ...{ path: "/chat/completions", headers: affinityHeaders(options.sessionId, traits), needsKey: traits.needsKey },
    ...{ mends, encode: encodeRequest },
    decoder: (parts: DecoderOptions) => new CompletionsDecoder({ ...parts, finishReason: traits.finishReason }),
  };
  return callOpenAI(api, model, context, options);
}

/** Headers that keep the requests of a session on the machine that has their prefix cached. */
function affinityHeaders(sessionId: string | undefined, { affinity }: ServerTraits): Record<string, string> {
  if (!sessionId || affinity === "none") return {};
  if (affinity === "openrouter") return { "x-session-id": sessionId };
  const shared = { "x-client-request-id": sessionId, "x-session-affinity": sessionId };
  return affinity === "openai" ? { session_id: sessionId, ...shared } : shared;
}
