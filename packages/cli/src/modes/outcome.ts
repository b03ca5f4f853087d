import type { ConfigError, RunEnding } from "@tau/host";
import type { ErrorKind } from "@tau/llm";
import { type EndSignal, EXIT, SIGNAL_EXIT } from "../process/exit-codes.ts";

/** How a run that did not end well is told: one line for people, a code for scripts. */
export interface Failure {
  readonly exitCode: number;
  readonly message: string;
  /** The message with what can be done about it, for people; programs compare the message itself. */
  readonly told: string;
  /** More fields for the JSON stream. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** What can be done about an error of a model's server, where its message does not say. */
const REMEDIES: Readonly<Partial<Record<ErrorKind, string>>> = {
  retryable: "try again later, or name another model in fallbackModels of settings.json",
  quota: "see to the account at the provider, or take another model with --model",
  invalid_request: "take another model with --model, or correct this one in models.json",
  content_filter: "put it in other words, or take another model with --model",
  unknown: "try again, or take another model with --model",
};

/** What is known beside the outcome. */
export interface OutcomeContext {
  /** The signal that stopped the run, if one did. */
  readonly signal?: EndSignal | undefined;
  /** The command that continues the session, where it is kept. */
  readonly resume?: string | undefined;
  /** Why the last request could not be sent, when that was a mistake of the configuration: a command gave no key, say. */
  readonly mistake?: ConfigError | undefined;
}

/** What to tell of an outcome; undefined when there is nothing to tell. */
export function failureOf(outcome: RunEnding, context: OutcomeContext = {}): Failure | undefined {
  const failure = failureRecord(outcome, context);
  if (!failure) return undefined;
  const isServer = outcome.status === "error" && failure.exitCode === EXIT.failed;
  const remedy = isServer && !failure.message.includes("; ") ? REMEDIES[outcome.errorKind ?? "unknown"] : undefined;
  if (outcome.status === "limit" && context.resume)
    return { ...failure, told: `${failure.message} Continue with: ${context.resume}` };
  return { ...failure, told: remedy === undefined ? failure.message : `${failure.message}; ${remedy}` };
}

function failureRecord(outcome: RunEnding, { signal, mistake }: OutcomeContext): Omit<Failure, "told"> | undefined {
  switch (outcome.status) {
    case "done":
      return undefined;
    case "error": {
      const details = outcome.errorKind ? { errorKind: outcome.errorKind } : {};
      const exitCode = mistake ? EXIT.usage : EXIT.failed;
      return { exitCode, message: outcome.errorMessage, details };
    }
    case "aborted": {
      const message = signal ? `stopped by ${signal}` : (outcome.reason ?? "the run was aborted");
      return { exitCode: signal ? SIGNAL_EXIT[signal] : EXIT.failed, message, details: { aborted: true } };
    }
    case "limit":
      return { exitCode: EXIT.limit, message: outcome.message, details: { limit: outcome.limit } };
    case "denied": {
      const calls = outcome.denied.map(({ toolName, reason }) => `${toolName} (${reason})`).join("; ");
      return {
        exitCode: EXIT.denied,
        message: `denied, as nobody was there to ask: ${calls}`,
        details: { denied: outcome.denied },
      };
    }
  }
}
