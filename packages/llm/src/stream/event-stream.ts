/** How a stream may shorten its backlog for a reader who is behind. */
export interface EventStreamOptions<Event> {
  /** One event that says what the two said, or undefined when they must stay apart. Must not change its arguments. */
  merge?: (previous: Event, next: Event) => Event | undefined;
  /** Number of unread events from which on new ones are merged. Default 64. */
  mergeAfter?: number;
}

type Outcome<Result> =
  | { state: "open" }
  | { state: "done"; result: Result | undefined }
  | { state: "failed"; error: unknown };

interface Node<Event> {
  event: Event;
  next: Node<Event> | undefined;
}

interface Waiter<Value> {
  resolve(value: Value): void;
  reject(error: unknown): void;
}

const MERGE_AFTER = 64;

/**
 * A queue between one producer and its reader: events are read once, in order, by `for await`; `result()` gives the
 * final value whether or not anyone iterates. A reader never hangs: `end` and `fail` settle everyone who waits, at
 * once and later. Several iterators share the events.
 */
export class EventStream<Event, Result> implements AsyncIterable<Event> {
  readonly #options: EventStreamOptions<Event>;
  #first: Node<Event> | undefined;
  #last: Node<Event> | undefined;
  #backlog = 0;
  #outcome: Outcome<Result> = { state: "open" };
  #readers: Waiter<IteratorResult<Event, undefined>>[] = [];
  #resultWaiters: Waiter<Result>[] = [];
  #onCancel: (() => void) | undefined;

  constructor(options: EventStreamOptions<Event> = {}) {
    this.#options = options;
  }

  /** Number of events that nobody has read yet. */
  get backlog(): number {
    return this.#backlog;
  }

  /** False after `end` or `fail`. */
  get open(): boolean {
    return this.#outcome.state === "open";
  }

  /** Adds an event. After the end it is dropped: late events of an aborted source must reach nobody. */
  push(event: Event): void {
    if (this.#outcome.state !== "open") return;
    const reader = this.#readers.shift();
    if (reader) {
      reader.resolve({ done: false, value: event });
      return;
    }
    if (!this.#mergeIntoLast(event)) this.#append(event);
  }

  /** Drops unread events, so that what comes next (an abort) overtakes them. */
  discard(drop: (event: Event) => boolean): void {
    let node = this.#first;
    this.#first = undefined;
    this.#last = undefined;
    this.#backlog = 0;
    for (; node; node = node.next) if (!drop(node.event)) this.#append(node.event);
  }

  /** Ends the stream. Unread events stay readable. Without a result, `result()` rejects. Only the first end counts. */
  end(result?: Result): void {
    if (this.#outcome.state !== "open") return;
    this.#outcome = { state: "done", result };
    this.#settle();
  }

  /** Ends the stream with a fault of the producer: readers meet `error` after the unread events, `result()` rejects. */
  fail(error: unknown): void {
    if (this.#outcome.state !== "open") return;
    this.#outcome = { state: "failed", error };
    this.#settle();
  }

  /** Says how the producer is stopped. */
  onCancel(stop: () => void): void {
    this.#onCancel = stop;
  }

  /** Asks the producer to stop: nobody wants the rest. Without effect after the end. */
  cancel(): void {
    if (this.open) this.#onCancel?.();
  }

  /** The value given to `end`; rejects when the stream failed or ended without one. */
  result(): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#resultWaiters.push({ resolve, reject });
      if (this.#outcome.state !== "open") this.#settle();
    });
  }

  [Symbol.asyncIterator](): AsyncIterator<Event, undefined> {
    return {
      next: () => this.#next(),
      return: async () => ({ done: true, value: undefined }),
    };
  }

  #next(): Promise<IteratorResult<Event, undefined>> {
    const node = this.#first;
    if (node) {
      this.#first = node.next;
      if (!node.next) this.#last = undefined;
      this.#backlog -= 1;
      return Promise.resolve({ done: false, value: node.event });
    }
    return new Promise((resolve, reject) => {
      this.#readers.push({ resolve, reject });
      if (this.#outcome.state !== "open") this.#settle();
    });
  }

  #append(event: Event): void {
    const node = { event, next: undefined };
    if (this.#last) this.#last.next = node;
    else this.#first = node;
    this.#last = node;
    this.#backlog += 1;
  }

  #mergeIntoLast(event: Event): boolean {
    const { merge, mergeAfter = MERGE_AFTER } = this.#options;
    const last = this.#last;
    if (!merge || !last || this.#backlog < mergeAfter) return false;
    const merged = merge(last.event, event);
    if (merged === undefined) return false;
    last.event = merged;
    return true;
  }

  #settle(): void {
    const outcome = this.#outcome;
    if (outcome.state === "open") return;
    for (const reader of this.#readers.splice(0)) {
      if (outcome.state === "failed") reader.reject(outcome.error);
      else reader.resolve({ done: true, value: undefined });
    }
    for (const waiter of this.#resultWaiters.splice(0)) {
      if (outcome.state === "failed") waiter.reject(outcome.error);
      else if (outcome.result === undefined) waiter.reject(new Error("The stream ended without a result"));
      else waiter.resolve(outcome.result);
    }
  }
}
