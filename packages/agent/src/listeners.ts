import type { AgentEvent } from "./events.ts";
import { errorText, guarded } from "./values.ts";

export type AgentListener = (event: AgentEvent, signal: AbortSignal) => void | Promise<void>;

/** Those who hear of each event, awaited in subscription order (laws L). */
export class Listeners {
  readonly #listeners = new Set<AgentListener>();
  /** The call of a listener has not come back. */
  isCalling = false;
  /** Settles with the listener that the run waits for; undefined while it waits for none. */
  awaited: Promise<void> | undefined;

  /** Returns the way out. Both hold from the next event (L4). */
  subscribe(listener: AgentListener): () => void {
    const own: AgentListener = (event, signal) => listener(event, signal);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /** Gives what the run has to wait for, if anything. It rejects when listeners failed; each one is called (L3). */
  tell(event: AgentEvent, signal: AbortSignal): Promise<void> | undefined {
    const errors: string[] = [];
    const noteError = (error: unknown) => void errors.push(errorText(error));
    let pending: Promise<void> | undefined;
    for (const listener of [...this.#listeners]) {
      const call = () => this.#call(() => listener(event, signal), noteError);
      pending = pending ? pending.then(call) : call();
    }
    const check = () => (errors.length > 0 ? Promise.reject(new Error(errors.join("; "))) : undefined);
    return pending ? pending.then(check) : check();
  }

  #call(listen: () => unknown, noteError: (error: unknown) => void): Promise<void> | undefined {
    this.isCalling = true;
    const pending = guarded(listen, noteError);
    this.isCalling = false;
    this.awaited = pending?.then(() => {
      this.awaited = undefined;
    });
    return this.awaited;
  }
}

/** Whether `work` is done within some milliseconds. */
export function settlesWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms);
    void work.then(() => clearTimeout(timer)).then(() => resolve(true));
  });
}
