import type { StreamFn } from "@tau/llm";
import type { ModelRegistry } from "./model-registry.ts";

/**
 * A sender of requests that asks the registry for key and headers each time: keys may be short-lived, and a command
 * may make them.
 */
export function withCredentials(streamFn: StreamFn, registry: ModelRegistry): StreamFn {
  return async (model, context, options) => {
    const { apiKey, headers } = await registry.credentials(model, options?.signal);
    return streamFn(model, context, {
      ...options,
      ...(apiKey !== undefined && { apiKey }),
      ...(headers && { headers: { ...headers, ...options.headers } }),
    });
  };
}
