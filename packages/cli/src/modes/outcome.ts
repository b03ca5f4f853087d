import type { RunOutcome } from "@tau/host";
import { type EndSignal, EXIT, SIGNAL_EXIT } from "../exit-codes.ts";

/** How a run that did not end well is told: one line for people, a code for scripts. */
export interface Failure {
  readonly exitCode: number;
  readonly message: string;
  /** More fields for the JSON stream. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** What is known beside the outcome. */
export interface OutcomeContext {
  /** The signal that stopped the run, if one did. */
  readonly signal?: EndSignal | undefined;
  /** Whether an error is a mistake of the configuration, such as a command that gives no key. */
  isMistake?(errorMessage: string): boolean;
}

/** What to tell of an outcome; undefined when there is nothing to tell. */
export function failureOf(outcome: RunOutcome, { signal, isMistake }: OutcomeContext = {}): Failure | undefined {
  switch (outcome.status) {
    case "done":
      return undefined;
    case "error": {
      const details = outcome.errorKind ? { errorKind: outcome.errorKind } : {};
      const exitCode = isMistake?.(outcome.errorMessage) ? EXIT.usage : EXIT.failed;
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
