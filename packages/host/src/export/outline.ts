import type { Entry } from "../store/entries.ts";
import type { SessionStore } from "../store/session-store.ts";
import { type Chain, ChainBuilder, NONE, type Place } from "./chains.ts";
import { nameOf, previewOf } from "./entry-text.ts";
import { Ledger, type SessionLedger } from "./ledger.ts";

/** One context_edit, seen from its target (law F6). */
export interface Edit {
  /** The chain the edit is in: it holds on the branches that go through it. */
  readonly chain: number;
  /** Takes the entry out of the context; otherwise it puts other content in its place. */
  readonly hides: boolean;
}

/**
 * The shape of a session, from one pass over its entries: which are shown, how they hang together, what was edited
 * and what was spent. An entry's number is its place in file order; old bytes never change, so it is stable.
 */
export interface Outline {
  readonly ids: readonly string[];
  /** Numbers by id. */
  readonly numbers: ReadonlyMap<string, number>;
  readonly chains: readonly Chain[];
  /** The chain that the shown branch ends with; NONE for an empty session. */
  readonly active: number;
  /** Edits by the number of their target, in file order: the last one on a branch holds. */
  readonly edits: ReadonlyMap<number, readonly Edit[]>;
  /** Labels by entry number. */
  readonly labels: ReadonlyMap<number, string>;
  /** Beginnings of messages by entry number, one line each. */
  readonly previews: ReadonlyMap<number, string>;
  /** Beginning of the first user message. */
  readonly firstPrompt: string | undefined;
  readonly ledger: SessionLedger;
}

/**
 * Takes the outline of a session. Linear in its entries; keeps a constant for each, not its text.
 *
 * @param leafId the end of the branch to show; default: the session's leaf
 */
export function outlineOf(store: SessionStore, leafId: string | null = store.leafId): Outline {
  const reader = new OutlineReader();
  for (const entry of store.walk()) reader.take(entry);
  return reader.finish(store, leafId);
}

class OutlineReader {
  readonly #ids: string[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #chains = new ChainBuilder();
  readonly #edits: { node: number; targetId: string; hides: boolean }[] = [];
  readonly #previews = new Map<number, string>();
  readonly #ledger = new Ledger();
  #firstPrompt: string | undefined;

  take(entry: Entry): void {
    const number = this.#ids.length;
    this.#ids.push(entry.id);
    this.#numbers.set(entry.id, number);
    const parent = entry.parentId === null ? NONE : (this.#numbers.get(entry.parentId) ?? NONE);
    this.#chains.take({ number, parent, place: placeOf(entry) });
    this.#ledger.take(entry, number);
    const preview = previewOf(entry);
    if (preview !== undefined) this.#previews.set(number, preview);
    if (entry.type === "context_edit") {
      this.#edits.push({ node: number, targetId: entry.targetId, hides: entry.replacement === null });
    }
    const isPrompt = entry.type === "message" && entry.message.role === "user";
    if (isPrompt && preview && this.#firstPrompt === undefined) this.#firstPrompt = preview;
  }

  finish(store: SessionStore, leafId: string | null): Outline {
    const leaf = leafId === null ? NONE : (this.#numbers.get(leafId) ?? NONE);
    const { chains, active, chainOf } = this.#chains.finish(leaf);
    const edits = new Map<number, Edit[]>();
    for (const { node, targetId, hides } of this.#edits) {
      const target = this.#numbers.get(targetId);
      const chain = chainOf[node] ?? NONE;
      if (target === undefined || chain === NONE) continue;
      const of = edits.get(target) ?? [];
      of.push({ chain, hides });
      edits.set(target, of);
    }
    const labels = new Map<number, string>();
    for (const [id, label] of store.labels()) {
      const number = this.#numbers.get(id);
      if (number !== undefined) labels.set(number, nameOf(label));
    }
    const ledger = this.#ledger.finish();
    const firstPrompt = this.#firstPrompt;
    return {
      ids: this.#ids,
      numbers: this.#numbers,
      chains,
      active,
      edits,
      labels,
      previews: this.#previews,
      firstPrompt,
      ledger,
    };
  }
}

const PLACES: Readonly<Record<string, Place>> = {
  message: "message",
  custom_message: "message",
  compaction: "summary",
  branch_summary: "summary",
  model_change: "marker",
  thinking_level_change: "marker",
  context_edit: "marker",
};

function placeOf(entry: Entry): Place {
  if (entry.type === "message" && entry.message.role === "system") return "marker";
  return (Object.hasOwn(PLACES, entry.type) ? PLACES[entry.type] : undefined) ?? "unseen";
}

/** Whether an entry is changed or taken out on a branch; undefined when it is as it was said. */
export function editOn(path: ReadonlySet<number>, edits: readonly Edit[] | undefined): Edit | undefined {
  return edits?.findLast(({ chain }) => path.has(chain));
}
