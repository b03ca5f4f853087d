import type { ImageContent } from "@tau/llm";
import type { PermissionAnswer } from "../permission/permission.ts";
import type { RunOutcome } from "../run/outcome.ts";
import type { SessionEvent } from "./session-event.ts";

/** What a consumer of the pull form sends in with `next(input)`. */
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
  /** The one that was taken last: its giver waits until the next is asked for. */
  #held: Item | undefined;
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
    this.#release();
    this.#wake();
  }

  /** The next event, once one is there; undefined after `close`. The event before it counts as taken. */
  async take(): Promise<SessionEvent | undefined> {
    this.#release();
    while (this.#items.length === 0 && !this.#closed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#held = this.#items.shift();
    return this.#held?.event;
  }

  #release(): void {
    this.#held?.taken();
    this.#held = undefined;
  }
}

type Pull = AsyncGenerator<SessionEvent, RunOutcome, PullInput | undefined>;

/**
 * The pull form of a session (law L6): the same events in the same order as `subscribe` gives. The session waits for
 * the consumer's pull; leaving early aborts the run and waits for it. Returns how the run ended. Input and leaving do
 * not wait for an event that was asked for before: while a question is open, or a tool hangs, none would come.
 */
export function pullEvents(source: PullSource): Pull {
  const handover = new Handover();
  let state: "new" | "running" | "over" = "new";
  let stopping: Promise<unknown> | undefined;
  const stop = async () => {
    handover.close();
    if (state === "running") stopping ??= source.stop();
    await stopping;
  };
  const start = () => {
    state = "running";
    const run = source.start().finally(() => {
      state = "over";
      handover.close();
    });
    // The rejection is met by whoever pulls; until then nobody listens.
    run.catch(() => undefined);
    return run;
  };
  async function* generate(): Pull {
    const unsubscribe = source.subscribe((event) => handover.give(event));
    try {
      const run = start();
      for (let event = await handover.take(); event; event = await handover.take()) yield event;
      return await run;
    } finally {
      unsubscribe();
      await stop();
    }
  }
  return withInput(generate(), { stop, input: (given) => state === "running" && source.input(given) });
}

interface Entrance {
  input(input: PullInput): void;
  stop(): Promise<void>;
}

/** A generator whose input, return and throw hold at once, also while an event is waited for. */
function withInput(generator: Pull, { input, stop }: Entrance): Pull {
  const { next, return: end, throw: fail } = generator;
  const leave = async <T>(last: () => Promise<T>) => {
    await stop();
    return last();
  };
  return Object.assign(generator, {
    next(given?: PullInput) {
      try {
        if (given) input(given);
      } catch (error) {
        return leave(() => fail.call(generator, error));
      }
      return next.call(generator, undefined);
    },
    return: (value: RunOutcome | PromiseLike<RunOutcome>) => leave(() => end.call(generator, value)),
    throw: (error: unknown) => leave(() => fail.call(generator, error)),
  });
}
