import { createAssistantStream, emptyAssistantMessage, type Model, type StreamFn } from "@tau/llm";
import { ConfigError } from "../settings/config-error.ts";
import type { ModelRegistry } from "../settings/model-registry.ts";
import { withCredentials } from "../settings/with-credentials.ts";

/** The ways to give a key that only the command has, and what a program has in their place. */
const WAYS: readonly { command: RegExp; program: string }[] = [
  { command: /\bset ([A-Z][A-Z0-9_]*)(?=,| or )/, program: "give $1 in `env`" },
  { command: /\bgive --api-key\b/, program: "a function `getApiKey`" },
];

/**
 * A sender of requests with the registry's keys and headers. Those that cannot be had are the answer of the request, as
 * those that the provider refuses are: a failure of kind "auth", with a text for a program.
 */
export function withSdkCredentials(streamFn: StreamFn, registry: ModelRegistry): StreamFn {
  const send = withCredentials(streamFn, registry);
  return async (model, context, options) => {
    try {
      return await send(model, context, options);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return authFailure(model, forProgram(error.message));
    }
  };
}

function forProgram(message: string): string {
  return WAYS.reduce((text, { command, program }) => text.replace(command, program), message);
}

function authFailure(model: Model, errorMessage: string): Awaited<ReturnType<StreamFn>> {
  const stream = createAssistantStream();
  const start = emptyAssistantMessage(model);
  const error = { ...start, stopReason: "error" as const, errorKind: "auth" as const, errorMessage };
  stream.push({ type: "start", partial: start });
  stream.push({ type: "error", reason: "error", error });
  stream.end(error);
  return stream;
}
