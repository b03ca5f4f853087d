import type { Tool } from "../../protocol/tool.ts";
import type { AssistantAssembler } from "../../stream/assembler.ts";
import { isRecord } from "../../stream/json.ts";
import { ownToolName } from "../history/wire-names.ts";
import { CallItem, type CallNames, type ItemKind, MessageItem, type OutputItem, ReasoningItem } from "./output-item.ts";

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
  readonly #assembler: AssistantAssembler;
  readonly #names: CallNames;
  readonly #entries: Entry[] = [];
  readonly #byId = new Map<string, Entry>();
  readonly #byCall = new Map<string, Entry>();
  readonly #byIndex = new Map<number, Entry>();

  constructor(assembler: AssistantAssembler, tools: readonly Tool[]) {
    this.#assembler = assembler;
    const used = new Set<string>();
    this.#names = {
      claimId: (candidates) => claimId(candidates, used),
      ownName: (name) => ownToolName(name, tools),
    };
  }

  /** An item is announced. */
  added(value: Json, index: unknown): void {
    const kind = kindOf(value);
    if (kind) this.#add(kind, value, namesOf(value, index));
  }

  /** An item is complete. */
  done(value: Json, index: unknown): void {
    const kind = kindOf(value);
    if (kind) this.#entryFor(kind, namesOf(value, index), value).item.complete(value);
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
    for (const [at, { kind, value, names }] of finals.entries()) {
      const entry = sure[at] ?? this.#guessed(kind, names.index, claimed) ?? this.#add(kind, value, names);
      claimed.add(entry);
      entry.item.complete(value);
    }
    for (const { item } of this.#entries) item.close();
  }

  #add(kind: ItemKind, value: Json, names: Names): Entry {
    const entry: Entry = { item: this.#make(kind, value), ...names };
    this.#entries.push(entry);
    if (names.id !== undefined) this.#byId.set(names.id, entry);
    if (names.callId !== undefined) this.#byCall.set(names.callId, entry);
    if (names.index !== undefined) this.#byIndex.set(names.index, entry);
    return entry;
  }

  #make(kind: ItemKind, value: Json): OutputItem {
    if (kind === "message") return new MessageItem(this.#assembler, value);
    if (kind === "reasoning") return new ReasoningItem(this.#assembler);
    return new CallItem(this.#assembler, this.#names, value);
  }

  #entryFor(kind: ItemKind, names: Names, value: Json): Entry {
    const found = this.#named(kind, names) ?? this.#indexed(kind, names.index) ?? this.#open(kind, names);
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
  #open(kind: ItemKind, names: Names): Entry | undefined {
    const fits = (mine: unknown, theirs: unknown) => mine === undefined || theirs === undefined || mine === theirs;
    return this.#entries.findLast(
      ({ item, id, callId, index }) =>
        item.kind === kind &&
        !item.closed &&
        fits(index, names.index) &&
        fits(callId, names.callId) &&
        fits(id, names.id),
    );
  }

  /** The item that a final one must be that has no known name: the one at its place, else the first that is left. */
  #guessed(kind: ItemKind, index: number | undefined, claimed: ReadonlySet<Entry | undefined>): Entry | undefined {
    const left = this.#entries.filter((entry) => entry.item.kind === kind && !claimed.has(entry));
    return left.find((entry) => entry.index === index) ?? left[0];
  }
}

const kindOf = ({ type }: Json) => KINDS.find((kind) => kind === type);

function namesOf(value: Json, index: unknown): Names {
  return { id: filled(value.id), callId: filled(value.call_id), index: whole(index) };
}

const filled = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);
const whole = (value: unknown) => (typeof value === "number" ? value : undefined);

function claimId(candidates: readonly unknown[], used: Set<string>): string {
  const free = candidates.find((id): id is string => typeof id === "string" && id !== "" && !used.has(id));
  const id = free ?? newId();
  used.add(id);
  return id;
}

function newId(): string {
  const part = () => Math.random().toString(36).slice(2, 12).padEnd(10, "0");
  return `call_${part()}${part()}`;
}
