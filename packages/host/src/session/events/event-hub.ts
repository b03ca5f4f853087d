/** Gets every event, awaited one after another in subscription order (law L1). */
export type Listener<Event> = (event: Event) => void | Promise<void>;

interface Subscription<Event> {
  readonly listener: Listener<Event>;
  /** Its failure ends the run: a front end that died must not leave the agent working unseen (report R011). */
  readonly essential: boolean;
}

interface Waiting<Event> {
  readonly event: Event;
  readonly delivered: () => void;
}

export interface HubFailure<Event> {
  readonly event: Event;
  readonly error: unknown;
  readonly essential: boolean;
}

/**
 * Gives events to listeners in one order for all of them: an event that is emitted while another is being delivered,
 * also by a listener, waits for its turn. Costs nothing but calls while every listener is synchronous.
 */
export class EventHub<Event> {
  #subscriptions: readonly Subscription<Event>[] = [];
  readonly #waiting: Waiting<Event>[] = [];
  readonly #onFailure: (failure: HubFailure<Event>) => void;
  #busy = false;
  #inListener = false;
  #patient = true;
  #giveUp: () => void = () => undefined;

  /** @param onFailure called for every listener that threw or rejected; it must not throw itself */
  constructor(onFailure: (failure: HubFailure<Event>) => void) {
    this.#onFailure = onFailure;
  }

  /** True while the synchronous part of a listener is on the stack. */
  get inListener(): boolean {
    return this.#inListener;
  }

  /** Holds from the next event on (law L4). Returns the way out. */
  subscribe(listener: Listener<Event>, essential = false): () => void {
    const subscription = { listener, essential };
    this.#subscriptions = [...this.#subscriptions, subscription];
    return () => {
      this.#subscriptions = this.#subscriptions.filter((other) => other !== subscription);
    };
  }

  /** Resolves when every listener is done with the event; undefined when they already are. */
  emit(event: Event): Promise<void> | undefined {
    if (this.#busy) {
      return new Promise((delivered) => {
        this.#waiting.push({ event, delivered });
      });
    }
    this.#busy = true;
    const delivery = this.#deliver(event, this.#subscriptions, 0);
    if (!delivery && this.#waiting.length === 0) {
      this.#busy = false;
      return undefined;
    }
    return this.#finish(delivery);
  }

  /** From now on a listener is called but not waited for, also the one that is being waited for (law R8). */
  hurry(): void {
    this.#patient = false;
    this.#giveUp();
  }

  /** Takes `hurry` back. */
  calmDown(): void {
    this.#patient = true;
  }

  async #finish(delivery: Promise<void> | undefined): Promise<void> {
    await delivery;
    // The emitter continues when its own event is through; what came meanwhile follows by itself.
    void this.#drain();
  }

  async #drain(): Promise<void> {
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      await this.#deliver(next.event, this.#subscriptions, 0);
      next.delivered();
    }
    this.#busy = false;
  }

  #deliver(event: Event, subscriptions: readonly Subscription<Event>[], from: number): Promise<void> | undefined {
    for (let index = from; index < subscriptions.length; index++) {
      const subscription = subscriptions[index];
      const pending = subscription && this.#call(subscription, event);
      if (pending) return pending.then(() => this.#deliver(event, subscriptions, index + 1));
    }
    return undefined;
  }

  #call(subscription: Subscription<Event>, event: Event): Promise<void> | undefined {
    this.#inListener = true;
    try {
      const result = subscription.listener(event);
      if (result === undefined || !isThenable(result)) return undefined;
      return this.#await(Promise.resolve(result).catch((error) => this.#failed(subscription, event, error)));
    } catch (error) {
      this.#failed(subscription, event, error);
      return undefined;
    } finally {
      this.#inListener = false;
    }
  }

  #failed({ essential }: Subscription<Event>, event: Event, error: unknown): void {
    this.#onFailure({ event, error, essential });
  }

  #await(pending: Promise<void>): Promise<void> | undefined {
    if (!this.#patient) return undefined;
    const gaveUp = new Promise<void>((resolve) => {
      this.#giveUp = resolve;
    });
    return Promise.race([pending, gaveUp]);
  }
}

function isThenable(value: unknown): value is PromiseLike<void> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
