import { createAssistantStream, emptyAssistantMessage, type Model, type StreamFn } from "@tau/llm";
import { ConfigError } from "./config-error.ts";
import type { ModelRegistry } from "./model-registry.ts";

/** What becomes of a key or header that cannot be had. */
export interface CredentialOptions {
  /** Puts the failure into words for whoever reads the reply. Default: those for the command. */
  words?(failure: ConfigError): ConfigError;
  /** Called for each request before it is sent: with the failure when it cannot be, else with undefined. */
  checked?(failure: ConfigError | undefined): void;
}

/**
 * A sender of requests that asks the registry for key and headers each time: keys may be short-lived, and a command may
 * make them. Those that cannot be had are the answer of the request, as those that the provider refuses are: a failure
 * of kind "auth".
 */
export function withCredentials(
  streamFn: StreamFn,
  registry: ModelRegistry,
  { words = (failure) => failure, checked }: CredentialOptions = {},
): StreamFn {
  return async (model, context, options) => {
    try {
      const { apiKey, headers } = await registry.credentials(model, options?.signal);
      checked?.(undefined);
      return streamFn(model, context, {
        ...options,
        ...(apiKey !== undefined && { apiKey }),
        ...(headers && { headers: { ...headers, ...options.headers } }),
      });
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      checked?.(error);
      return authFailure(model, words(error).message);
    }
  };
}

function authFailure(model: Model, errorMessage: string): Awaited<ReturnType<StreamFn>> {
  const stream = createAssistantStream();
  const partial = emptyAssistantMessage(model);
  stream.push({ type: "start", partial });
  const error = { ...partial, stopReason: "error" as const, errorKind: "auth" as const, errorMessage };
  stream.push({ type: "error", reason: "error", error });
  stream.end(error);
  return stream;
}
