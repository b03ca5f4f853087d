/** Keeps items until they are taken, in order. One taker at a time. */
export class Mailbox<Item> implements AsyncIterableIterator<Item> {
  readonly #items: Item[] = [];
  readonly #onClose: () => void;
  #closed = false;
  #wake: () => void = () => undefined;

  /** @param onClose told when nobody takes from it any more */
  constructor(onClose: () => void) {
    this.#onClose = onClose;
  }

  put(item: Item): void {
    this.#items.push(item);
    this.#wake();
  }

  /** Nothing more comes; what is there can still be taken. */
  end(): void {
    this.#closed = true;
    this.#wake();
  }

  async next(): Promise<IteratorResult<Item, undefined>> {
    while (this.#items.length === 0 && !this.#closed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const item = this.#items.shift();
    return item === undefined ? { done: true, value: undefined } : { done: false, value: item };
  }

  async return(): Promise<IteratorResult<Item, undefined>> {
    this.#items.length = 0;
    this.end();
    this.#onClose();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
