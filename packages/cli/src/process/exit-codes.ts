/** How the program ends, in all modes (DESIGN, "Command line"). */
export const EXIT = {
  done: 0,
  /** The run ended in an error. */
  failed: 1,
  /** Usage or configuration. */
  usage: 2,
  /** A limit was reached: turns, cost, time. */
  limit: 3,
  /** Something was denied and no one was there to ask. */
  denied: 4,
} as const;

/** Exit codes of signals: 128 and the number of the signal. */
export const SIGNAL_EXIT = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

export type EndSignal = keyof typeof SIGNAL_EXIT;
