import type { AssistantMessageEventStream, Context } from "@tau/llm";
import type { RunContext } from "./run-context.ts";
import { ABORTED, type Ending } from "./sound-reply.ts";
import { defined, detach } from "./values.ts";

/** Makes the request of a turn and sends it (law B3). After an abort there is none, however late a hook comes back (R9). */
export async function openStream(run: RunContext): Promise<AssistantMessageEventStream | Ending> {
  const { config, context, told } = run;
  const { signal } = run.cutoff;
  // The transform may change what it gets (B6).
  const messages = (await config.transformContext?.(detach(context.messages), signal)) ?? context.messages.slice();
  const converted = await config.convertToLlm(messages);
  // The head stays as it was at the session's start (law O3), unless `convertToLlm` keeps later changes from the model.
  const isSent = !told.changed || converted.some(({ role }) => role === "system");
  const request: Context = { ...(isSent ? run.firstHead : told.head), messages: run.pairs.repair(converted) };
  const apiKey = (await config.getApiKey?.(config.model)) ?? config.apiKey;
  if (signal.aborted) return ABORTED;
  const { headers, temperature, maxTokens, thinkingLevel = "off", sessionId, timeouts, network, onWarning } = config;
  const given = defined({ apiKey, headers, temperature, maxTokens, sessionId, timeouts, network, onWarning });
  return run.streamFn(config.model, request, { ...given, thinkingLevel, signal });
}
