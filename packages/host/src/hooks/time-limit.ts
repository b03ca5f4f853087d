/** How long what ignores an abort is still waited for: well within the second in which an aborted run ends. */
const AFTER_ABORT_MS = 250;

export interface TimeLimit {
  /** Absent: none. */
  readonly timeoutMs: number | undefined;
  readonly signal: AbortSignal;
}

/**
 * What `work` gives, when it comes in time.
 * @throws Error when it takes longer than its limit, or continues after an abort
 */
export async function inTime<Value>(work: () => Value | Promise<Value>, limit: TimeLimit): Promise<Value> {
  const begun = work();
  if (typeof begun !== "object" || begun === null || !("then" in begun)) return begun;
  const late = lateness(limit);
  try {
    return await Promise.race([begun, late.failure]);
  } finally {
    late.release();
  }
}

/** A promise that fails when the time is over. `release` forgets timers and listener. */
function lateness({ timeoutMs, signal }: TimeLimit): { failure: Promise<never>; release: () => void } {
  const { promise: failure, reject } = withReject();
  const timers: NodeJS.Timeout[] = [];
  const failAfter = (ms: number, why: string) => timers.push(setTimeout(() => reject(new Error(why)), ms));
  const onAbort = () => void failAfter(AFTER_ABORT_MS, "it did not end after the abort");
  if (timeoutMs !== undefined) failAfter(timeoutMs, `it took longer than ${timeoutMs} ms`);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return {
    failure,
    release() {
      for (const timer of timers) clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    },
  };
}

function withReject(): { promise: Promise<never>; reject: (error: Error) => void } {
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<never>((_resolve, fail) => {
    reject = fail;
  });
  return { promise, reject };
}
