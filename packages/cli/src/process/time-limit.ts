import { setTimeout as wait } from "node:timers/promises";

/** The time of the process was over before its first run: exit code 3. */
export class TimeLimitError extends Error {
  override name = "TimeLimitError";
}

/** Rejects with TimeLimitError when the process has run for so many seconds; 0 and undefined mean no limit. */
export async function timeLimit(seconds: number | undefined): Promise<never> {
  if (!seconds) return new Promise<never>(() => undefined);
  await wait(Math.max(0, seconds * 1000 - performance.now()));
  throw new TimeLimitError(
    `Stopped: the limit of ${seconds} s is reached, waiting for stdin to end; give </dev/null if there is nothing to read`,
  );
}
