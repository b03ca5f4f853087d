import type { ImageContent } from "@tau/llm";
import type { SessionEvent } from "./events.ts";
import type { RunOutcome } from "./outcome.ts";
import type { PermissionAnswer } from "./permission.ts";

/** What a consumer of the pull form sends in with `next(input)` (law L6). */
export type PullInput =
  | { type: "steer"; message: string; images?: ImageContent[] }
  | { type: "follow_up"; message: string; images?: ImageContent[] }
  | { type: "interrupt"; message: string; images?: ImageContent[] }
  | ({ type: "permission"; id: string } & PermissionAnswer)
  | { type: "abort" };

/** What the pull form needs of a session. */
export interface PullSource {
  subscribe(listener: (event: SessionEvent) => void | Promise<void>): () => void;
  /** Starts the run; resolves when it is settled. */
  start(): Promise<RunOutcome>;
  input(input: PullInput): void;
  /** Aborts and waits until it is settled. */
  stop(): Promise<unknown>;
}

interface Item {
  readonly event: SessionEvent;
  readonly taken: () => void;
}

/** Hands events over one by one: the giver waits until the taker asks for the next one. */
class Handover {
  readonly #items: Item[] = [];
  #wake: () => void = () => undefined;
  #closed = false;

  give(event: SessionEvent): Promise<void> | undefined {
    if (this.#closed) return undefined;
    return new Promise((taken) => {
      this.#items.push({ event, taken });
      this.#wake();
    });
  }

  /** No more events are wanted: nobody is kept waiting. */
  close(): void {
    this.#closed = true;
    for (const { taken } of this.#items.splice(0)) taken();
    this.#wake();
  }

  /** The next event, once one is there; undefined after `close`. */
  async take(): Promise<Item | undefined> {
    while (this.#items.length === 0 && !this.#closed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#items.shift();
  }
}

/**
 * The pull form of a session (law L6): the same events in the same order as `subscribe` gives. The session waits for
 * the consumer's pull; leaving the loop early aborts the run and waits for it. Returns how the run ended.
 */
export async function* pullEvents(source: PullSource): AsyncGenerator<SessionEvent, RunOutcome, PullInput | undefined> {
  const handover = new Handover();
  const unsubscribe = source.subscribe((event) => handover.give(event));
  let over = false;
  const run = source.start().finally(() => {
    over = true;
    handover.close();
  });
  // The rejection is met below; until then nobody listens.
  run.catch(() => undefined);
  try {
    for (let item = await handover.take(); item; item = await handover.take()) {
      const input = yield item.event;
      if (input) source.input(input);
      item.taken();
    }
    return await run;
  } finally {
    unsubscribe();
    handover.close();
    if (!over) await source.stop();
  }
}
