import type { AssistantContent } from "../protocol/message.ts";

const BITS = 5;
const WIDTH = 1 << BITS;
const MASK = WIDTH - 1;

/** A node holds blocks at the lowest level, nodes above. */
type Node = readonly (Node | AssistantContent)[];

/**
 * The blocks of one moment of a message, in a tree of which a change copies one path: message after message of an
 * answer with thousands of calls costs the same (S5, R305).
 */
export class BlockList {
  readonly length: number;
  readonly #root: Node;
  /** Levels of nodes above the lowest one. */
  readonly #height: number;
  #list: AssistantContent[] | undefined;

  private constructor(root: Node, length: number, height: number) {
    this.#root = root;
    this.length = length;
    this.#height = height;
  }

  /** A list of these blocks. */
  static of(blocks: readonly AssistantContent[]): BlockList {
    let list = new BlockList([], 0, 0);
    for (const [index, block] of blocks.entries()) list = list.with(index, block);
    return list;
  }

  /** The list with another block at a place up to its end. */
  with(index: number, block: AssistantContent): BlockList {
    const grows = index === this.length && index === WIDTH ** (this.#height + 1);
    const root = grows ? [this.#root] : this.#root;
    const height = grows ? this.#height + 1 : this.#height;
    return new BlockList(replaced(root, { index, block, height }), Math.max(this.length, index + 1), height);
  }

  at(index: number): AssistantContent | undefined {
    if (index < 0 || index >= this.length) return undefined;
    let node: Node | AssistantContent | undefined = this.#root;
    for (let level = this.#height; level >= 0 && isNode(node); level -= 1)
      node = node[(index >> (level * BITS)) & MASK];
    return isNode(node) ? undefined : node;
  }

  /** The blocks as a list of its own, made when someone first looks. */
  toArray(): AssistantContent[] {
    if (!this.#list) {
      this.#list = [];
      collect(this.#root, this.#list);
    }
    return this.#list;
  }
}

interface Change {
  index: number;
  block: AssistantContent;
  height: number;
}

function replaced(node: Node, { index, block, height }: Change): Node {
  const copy = node.slice();
  const at = (index >> (height * BITS)) & MASK;
  const child = copy[at];
  copy[at] = height === 0 ? block : replaced(isNode(child) ? child : [], { index, block, height: height - 1 });
  return copy;
}

function collect(node: Node, into: AssistantContent[]): void {
  for (const child of node) {
    if (isNode(child)) collect(child, into);
    else into.push(child);
  }
}

function isNode(value: Node | AssistantContent | undefined): value is Node {
  return Array.isArray(value);
}
