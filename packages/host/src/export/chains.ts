/** No entry, no chain. */
export const NONE = -1;

/** A run of entries without a fork. A branch is a path of chains; each is on the page once, whatever its branches. */
export interface Chain {
  /** Number of the chain it hangs below, or NONE. A parent always has a smaller number than its children. */
  readonly parent: number;
  /** Numbers of its entries, in order. */
  readonly entries: number[];
  readonly children: number[];
  /** Messages in it; summaries and markers do not count. */
  messages: number;
}

/** How an entry takes part in the tree: said by somebody, a summary, a marker between, or not shown at all. */
export type Place = "message" | "summary" | "marker" | "unseen";

interface TreeNode {
  number: number;
  parent: number;
  place: Place;
}

interface Chains {
  chains: Chain[];
  /** The chain that the wanted branch ends with. */
  active: number;
  /** By entry number: the chain it is in, or NONE. */
  chainOf: number[];
}

const BRANCHES: ReadonlySet<Place | undefined> = new Set(["message", "summary"]);

/**
 * Parts a tree into chains. Entries that are not shown are skipped over, and so are markers with nothing said after
 * them: a record of a moved leaf, or a change of model that nothing followed, is not a branch of its own.
 */
export class ChainBuilder {
  /** By entry number: the nearest entry above that is not an unseen one, then itself when it is one. */
  readonly #above: number[] = [];
  readonly #self: number[] = [];
  readonly #places: Place[] = [];

  take({ number, parent, place }: TreeNode): void {
    const above = parent === NONE ? NONE : (this.#self[parent] ?? NONE);
    this.#above.push(above);
    this.#self.push(place === "unseen" ? above : number);
    this.#places.push(place);
  }

  finish(leaf: number): Chains {
    const end = leaf === NONE ? NONE : (this.#self[leaf] ?? NONE);
    const kept = this.#kept(end);
    const children = this.#childCounts(kept);
    const chains: Chain[] = [];
    const chainOf: number[] = new Array(this.#above.length).fill(NONE);
    for (let number = 0; number < chainOf.length; number++) {
      if (!kept[number]) continue;
      const above = this.#above[number] ?? NONE;
      const goesOn = above !== NONE && above !== end && children[above] === 1;
      const chain = goesOn ? (chainOf[above] ?? NONE) : begin(chains, above === NONE ? NONE : (chainOf[above] ?? NONE));
      chainOf[number] = chain;
      chains[chain]?.entries.push(number);
      const counted = chains[chain];
      if (counted && this.#places[number] === "message") counted.messages++;
    }
    return { chains, active: end === NONE ? NONE : (chainOf[end] ?? NONE), chainOf };
  }

  /** What was said and all that leads to it; and the path to the wanted end. A parent has a smaller number. */
  #kept(end: number): Uint8Array {
    const kept = new Uint8Array(this.#above.length);
    if (end !== NONE) kept[end] = 1;
    for (let number = kept.length - 1; number >= 0; number--) {
      if (BRANCHES.has(this.#places[number])) kept[number] = 1;
      const above = this.#above[number] ?? NONE;
      if (kept[number] && above !== NONE) kept[above] = 1;
    }
    return kept;
  }

  #childCounts(kept: Uint8Array): Uint32Array {
    const counts = new Uint32Array(kept.length);
    for (let number = 0; number < kept.length; number++) {
      const above = this.#above[number] ?? NONE;
      if (kept[number] && above !== NONE) counts[above] = (counts[above] ?? 0) + 1;
    }
    return counts;
  }
}

/** The chains from the root to one of them. */
export function chainsTo(chains: readonly Chain[], end: number): Set<number> {
  const path = new Set<number>();
  for (let at = end; at !== NONE; at = chains[at]?.parent ?? NONE) path.add(at);
  return path;
}

function begin(chains: Chain[], parent: number): number {
  const number = chains.length;
  chains.push({ parent, entries: [], children: [], messages: 0 });
  chains[parent]?.children.push(number);
  return number;
}
