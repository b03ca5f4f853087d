interface Link<Item> {
  readonly item: Item;
  next: Link<Item> | undefined;
}

/** First in, first out, at the same cost for each item however many wait. */
export class Fifo<Item> {
  #first: Link<Item> | undefined;
  #last: Link<Item> | undefined;

  get empty(): boolean {
    return this.#first === undefined;
  }

  put(item: Item): void {
    const link: Link<Item> = { item, next: undefined };
    if (this.#last) this.#last.next = link;
    else this.#first = link;
    this.#last = link;
  }

  /** Undefined when there is none. */
  take(): Item | undefined {
    const link = this.#first;
    this.#first = link?.next;
    if (!this.#first) this.#last = undefined;
    return link?.item;
  }

  clear(): void {
    this.#first = undefined;
    this.#last = undefined;
  }
}
