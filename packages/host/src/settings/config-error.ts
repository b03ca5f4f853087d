import type { Audience, ConfigErrorCode, ConfigFailure, ConfigFailures } from "./config-failure.ts";
import { failureText } from "./config-failure-text.ts";

/**
 * A mistake of usage or configuration that only the user can fix. `code` and `params` say which; the message is one
 * line with what is wrong, where, and how to fix it. The command ends with exit code 2.
 */
export class ConfigError extends Error {
  override name = "ConfigError";
  readonly failure: ConfigFailure;

  constructor(failure: ConfigFailure, audience: Audience = "command") {
    super(failureText(failure, audience));
    this.failure = failure;
  }

  get code(): ConfigErrorCode {
    return this.failure.code;
  }

  get params(): ConfigFailure["params"] {
    return this.failure.params;
  }

  /** The same failure in words for a program that has no command line. */
  forProgram(): ConfigError {
    return new ConfigError(this.failure, "program");
  }
}

/** Makes the error of a code; the compiler checks that the facts are those of the code. */
export function configError<Code extends ConfigErrorCode>(code: Code, params: ConfigFailures[Code]): ConfigError {
  // A pair of one code and its own facts is one of the union, which the compiler cannot see for a generic code.
  return new ConfigError({ code, params } as ConfigFailure);
}
