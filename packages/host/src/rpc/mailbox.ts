import { Fifo } from "./fifo.ts";

/** Keeps items until they are taken, in order. One taker at a time. */
export class Mailbox<Item> implements AsyncIterableIterator<Item> {
  readonly #items = new Fifo<Item>();
  readonly #onClose: () => void;
  #closed = false;
  #wake: () => void = () => undefined;

  /** @param onClose called when nobody takes from it any more */
  constructor(onClose: () => void) {
    this.#onClose = onClose;
  }

  put(item: Item): void {
    this.#items.put(item);
    this.#wake();
  }

  /** Nothing more comes; what is there can still be taken. */
  end(): void {
    this.#closed = true;
    this.#wake();
  }

  async next(): Promise<IteratorResult<Item, undefined>> {
    while (this.#items.empty && !this.#closed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const item = this.#items.take();
    return item === undefined ? { done: true, value: undefined } : { done: false, value: item };
  }

  async return(): Promise<IteratorResult<Item, undefined>> {
    this.#items.clear();
    this.end();
    this.#onClose();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
