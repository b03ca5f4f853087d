/** The command line cannot be understood: exit code 2, one line with the remedy. Kept apart so that it loads alone. */
export class UsageError extends Error {
  override name = "UsageError";
}
