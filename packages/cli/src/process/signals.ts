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
 * Lets the end of the process, when everything that waits for it is done, be a death by the signal: a shell continues with
 * its loop after a command that merely exits with 130. Nothing happens for a code that is not that of a signal.
 */
export function dieByCode(code: number): void {
  const signal = SIGNALS.find((each) => SIGNAL_EXIT[each] === code);
  if (signal !== undefined) dieBy(signal);
}

function dieBy(signal: EndSignal): void {
  // Windows has no such death; there the code says it.
  if (process.platform === "win32") return;
  process.once("exit", () => {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

const SIGNALS = Object.keys(SIGNAL_EXIT) as EndSignal[];

/**
 * Ctrl-C, SIGTERM and SIGHUP: the first one stops the run in good order, a second Ctrl-C or the deadline ends the
 * process at once. Either way it dies by the first signal.
 */
export function listenForSignals(): Signals {
  let received: EndSignal | undefined;
  let handling: SignalHandling | undefined;
  const endNow = (signal: EndSignal): never => {
    handling?.endNow();
    dieBy(signal);
    process.exit(SIGNAL_EXIT[signal]);
  };
  const onSignal = (signal: EndSignal) => {
    if (!handling || received) endNow(received ?? signal);
    received = signal;
    setTimeout(() => endNow(signal), DEADLINE_MS).unref();
    handling?.stop(signal);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    get received() {
      return received;
    },
    handle(next) {
      handling = next;
    },
  };
}
