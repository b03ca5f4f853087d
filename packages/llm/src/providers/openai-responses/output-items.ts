import { isRecord } from "../../stream/json.ts";
import { CallItem } from "./call-item.ts";
import type { ItemParts } from "./item-parts.ts";
import { type ItemKind, MessageItem, type OutputItem, ReasoningItem } from "./output-item.ts";

type Json = Record<string, unknown>;

/** An item with what its server calls it; names that it does not give are undefined. */
interface Entry {
  item: OutputItem;
  id: string | undefined;
  callId: string | undefined;
  index: number | undefined;
}

/** By which of the names a server sends an item can be found. */
type Names = Pick<Entry, "id" | "callId" | "index">;

const KINDS: readonly ItemKind[] = ["message", "reasoning", "function_call"];

/**
 * The items of an output. Events name theirs by id and by index; servers of this API leave out one or both, give all
 * items the same index, or a new id with each event, so an item is looked for by every name it has, then by its kind.
 * Items of other kinds (of tools that run at the server) are passed over.
 */
export class OutputItems {
  readonly #parts: ItemParts;
  readonly #entries: Entry[] = [];
  readonly #open = new OpenEntries();
  /** Those that an event with an id of its own can mean: an id that is known is found by it. */
  readonly #openWithoutId = new OpenEntries();
  /** Number of items that the server has not ended yet. */
  #owed = 0;
  /** The item that ended last may be the last one. */
  #lastMayEnd = false;
  readonly #byId = new Map<string, Entry>();
  readonly #byCall = new Map<string, Entry>();
  readonly #byIndex = new Map<number, Entry>();

  constructor(parts: ItemParts) {
    this.#parts = parts;
  }

  /** True when the server has ended each item, and the last one is a call or an answer: that may be all. */
  get allDone(): boolean {
    return this.#owed === 0 && this.#lastMayEnd;
  }

  /** An item is announced. */
  added(value: Json, index: unknown): void {
    const kind = kindOf(value);
    if (kind) this.#add(kind, value, namesOf(value, index));
    // A tool runs at the server: more follows.
    else this.#lastMayEnd = false;
  }

  /** An item is complete. */
  done(value: Json, index: unknown): void {
    const kind = kindOf(value);
    if (!kind) return;
    const { item } = this.#entryFor(kind, namesOf(value, index), value);
    if (item.closed) return;
    item.complete(value);
    this.#open.dropEnded();
    this.#openWithoutId.dropEnded();
    this.#owed -= 1;
    this.#lastMayEnd = kind !== "reasoning" && value.phase !== "commentary";
  }

  /** The item that an event belongs to; made when no one announced it. */
  of(kind: ItemKind, event: Json): OutputItem {
    const names = { id: filled(event.item_id), callId: filled(event.call_id), index: whole(event.output_index) };
    return this.#entryFor(kind, names, { id: event.item_id, call_id: event.call_id }).item;
  }

  /** The response has ended: what the items are by its final output, which a server may leave out (R031). */
  finish(output: unknown): void {
    const finals = (Array.isArray(output) ? output : []).flatMap((value: unknown, index) => {
      const kind = isRecord(value) ? kindOf(value) : undefined;
      return isRecord(value) && kind ? [{ kind, value, names: namesOf(value, index) }] : [];
    });
    // Those with a name of their own first, so that no other is taken for one of them.
    const claimed = new Set<Entry | undefined>();
    const sure = finals.map(({ kind, names }) => {
      const entry = this.#named(kind, names);
      claimed.add(entry);
      return entry;
    });
    const left = new Unclaimed(this.#entries, claimed);
    for (const [at, { kind, value, names }] of finals.entries()) {
      const entry = sure[at] ?? left.guess(kind, names.index) ?? this.#add(kind, value, names);
      claimed.add(entry);
      entry.item.complete(value);
    }
    for (const { item } of this.#entries) item.close();
  }

  #add(kind: ItemKind, value: Json, names: Names): Entry {
    const entry: Entry = { item: this.#make(kind, value), ...names };
    this.#entries.push(entry);
    this.#open.add(entry);
    if (names.id === undefined) this.#openWithoutId.add(entry);
    this.#owed += 1;
    if (names.id !== undefined) this.#byId.set(names.id, entry);
    if (names.callId !== undefined) this.#byCall.set(names.callId, entry);
    if (names.index !== undefined) this.#byIndex.set(names.index, entry);
    return entry;
  }

  #make(kind: ItemKind, value: Json): OutputItem {
    if (kind === "message") return new MessageItem(this.#parts, value);
    return kind === "reasoning" ? new ReasoningItem(this.#parts) : new CallItem(this.#parts, value);
  }

  #entryFor(kind: ItemKind, names: Names, value: Json): Entry {
    const found = this.#named(kind, names) ?? this.#indexed(kind, names.index) ?? this.#lastOpen(kind, names);
    return found ?? this.#add(kind, value, names);
  }

  #named(kind: ItemKind, { id, callId }: Names): Entry | undefined {
    const known = id === undefined ? undefined : this.#byId.get(id);
    if (known?.item.kind === kind) return known;
    return callId === undefined || kind !== "function_call" ? undefined : this.#byCall.get(callId);
  }

  #indexed(kind: ItemKind, index: number | undefined): Entry | undefined {
    const known = index === undefined ? undefined : this.#byIndex.get(index);
    return known?.item.kind === kind && !known.item.closed ? known : undefined;
  }

  /** The last open item of a kind, when the names of neither speak against it. */
  #lastOpen(kind: ItemKind, names: Names): Entry | undefined {
    const fits = (mine: unknown, theirs: unknown) => mine === undefined || theirs === undefined || mine === theirs;
    const open = names.id === undefined ? this.#open : this.#openWithoutId;
    return open.last(
      ({ item, callId, index }) => item.kind === kind && fits(index, names.index) && fits(callId, names.callId),
    );
  }
}

/** Open items, and fewer than as many that have ended since: what is looked through does not grow with those. */
class OpenEntries {
  #list: Entry[] = [];
  #ended = 0;

  add(entry: Entry): void {
    this.#list.push(entry);
  }

  /** To be called when an item may have ended. */
  dropEnded(): void {
    this.#ended += 1;
    if (this.#ended * 2 <= this.#list.length) return;
    this.#list = this.#list.filter(({ item }) => !item.closed);
    this.#ended = 0;
  }

  last(fits: (entry: Entry) => boolean): Entry | undefined {
    return this.#list.findLast((entry) => !entry.item.closed && fits(entry));
  }
}

/** The items that no final one was found for by name. */
class Unclaimed {
  readonly #claimed: ReadonlySet<Entry | undefined>;
  /** By kind, and by kind and index; the first item is the last of its list. */
  readonly #lists = new Map<string, Entry[]>();

  /** @param claimed grows while the guesses are made */
  constructor(entries: readonly Entry[], claimed: ReadonlySet<Entry | undefined>) {
    this.#claimed = claimed;
    for (const entry of entries.toReversed()) {
      const { kind } = entry.item;
      for (const key of [kind, `${kind} ${entry.index}`]) {
        const list = this.#lists.get(key);
        if (list) list.push(entry);
        else this.#lists.set(key, [entry]);
      }
    }
  }

  /** The item that a final one must be that has no known name: the one at its place, else the first that is left. */
  guess(kind: ItemKind, index: number | undefined): Entry | undefined {
    return this.#first(`${kind} ${index}`) ?? this.#first(kind);
  }

  #first(key: string): Entry | undefined {
    const list = this.#lists.get(key) ?? [];
    while (list.length > 0 && this.#claimed.has(list.at(-1))) list.pop();
    return list.at(-1);
  }
}

const kindOf = ({ type }: Json) => KINDS.find((kind) => kind === type);

function namesOf(value: Json, index: unknown): Names {
  return { id: filled(value.id), callId: filled(value.call_id), index: whole(index) };
}

const filled = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);
const whole = (value: unknown) => (typeof value === "number" ? value : undefined);
