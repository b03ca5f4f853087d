import { type EndSignal, SIGNAL_EXIT } from "./exit-codes.ts";

/** The longest time that an ordered end may take after a signal, in milliseconds; then the process ends anyway. */
const DEADLINE_MS = 5_000;

interface SignalHandling {
  /** Called once, on the first signal: stops the run. */
  stop(signal: EndSignal): void;
  /** Called last before the process ends at once: kills what the run started. Must not wait. */
  endNow(): void;
}

/** The signal that came, if one did. */
export interface Signals {
  readonly received: EndSignal | undefined;
  /** Replaces what a signal does; before the first call it ends the process at once. */
  handle(handling: SignalHandling): void;
}

/**
 * Ctrl-C, SIGTERM and SIGHUP: the first one stops the run in good order, a second Ctrl-C or the deadline ends the
 * process at once, with the exit code of the first.
 */
export function listenForSignals(): Signals {
  let received: EndSignal | undefined;
  let handling: SignalHandling | undefined;
  const endNow = (signal: EndSignal): never => {
    handling?.endNow();
    process.exit(SIGNAL_EXIT[signal]);
  };
  const onSignal = (signal: EndSignal) => {
    if (!handling || received) endNow(received ?? signal);
    received = signal;
    setTimeout(() => endNow(signal), DEADLINE_MS).unref();
    handling?.stop(signal);
  };
  for (const signal of Object.keys(SIGNAL_EXIT) as EndSignal[]) process.on(signal, onSignal);
  return {
    get received() {
      return received;
    },
    handle(next) {
      handling = next;
    },
  };
}
