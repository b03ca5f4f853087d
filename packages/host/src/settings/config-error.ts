/**
 * A mistake of usage or configuration that only the user can mend. The message is one line that says what is
 * wrong, where, and how to mend it; the program ends with exit code 2.
 */
export class ConfigError extends Error {
  override name = "ConfigError";
}

/** What was thrown, in words. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
