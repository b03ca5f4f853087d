import { assertNever } from "../platform/assert-never.ts";
import type { Entry } from "./entries.ts";
import type { LostHead } from "./parse-line.ts";
import { randomEntryId } from "./paths.ts";
import { LEAF_RECORD } from "./tau-record-types.ts";

/** No entry: the parent of a root, the leaf of an empty session. */
export const NONE = -1;

/** Numbers of entries of one kind on a path, newest first. Shared between the paths that have it in common. */
interface PathLink {
  entry: number;
  previous: PathLink | undefined;
}

/** What holds at an entry because of it and those above it. One object is shared by all entries it holds for. */
export interface PathState {
  model: { provider: string; modelId: string } | undefined;
  thinkingLevel: string | undefined;
  /** Index of the newest compaction, or NONE. */
  compaction: number;
  /** The context_edits. */
  edits: PathLink | undefined;
  /** The system messages. */
  systems: PathLink | undefined;
}

/** Where an entry can be read again. */
export interface EntryPlace {
  offset: number;
  length: number;
}

export type ReadEntry = (place: EntryPlace) => Entry | undefined;

const EMPTY_STATE: PathState = {
  model: undefined,
  thinkingLevel: undefined,
  compaction: NONE,
  edits: undefined,
  systems: undefined,
};
const NO_READ: ReadEntry = () => undefined;

/**
 * The entries of a session as a tree. Entries have a number, their place in file order; a parent always has a
 * smaller number than its child, so that no path has a cycle, whatever a file says.
 *
 * Columns instead of objects, since a long session has 100,000 entries: what an entry costs beyond its own text is
 * a constant (law O4). Entries that the model no longer sees are dropped and read again when someone asks.
 */
export class EntryTree {
  readonly ids: string[] = [];
  readonly types: string[] = [];
  readonly parents: number[] = [];
  readonly states: PathState[] = [];
  /** Index of the current leaf, or NONE. */
  leaf = NONE;
  /** Entries whose parent was not to be found. */
  relinked = 0;
  /** Newest session_info; undefined without one. */
  name: string | undefined;
  /** Labels by target. */
  readonly labels = new Map<string, string>();
  /** Number of the newest custom entry of each type. */
  readonly newestCustom = new Map<string, number>();
  /** Set when the entries come from a file, to read them again. */
  readEntry: ReadEntry = NO_READ;
  readonly #entries: (Entry | undefined)[] = [];
  /** Where entries can be read again: byte offsets, and lengths that are 0 for those that cannot. */
  readonly #offsets: number[] = [];
  readonly #lengths: number[] = [];
  readonly #byId = new Map<string, number>();
  readonly #lost = new Map<string, { parent: number; position: number }>();
  /** Entries below this number were dropped where possible. */
  #cold = 0;

  get size(): number {
    return this.ids.length;
  }

  indexOf(id: string): number {
    return this.#byId.get(id) ?? NONE;
  }

  /** The state at an entry; of NONE, the state before the first one. */
  stateAt(index: number): PathState {
    return this.states[index] ?? EMPTY_STATE;
  }

  /** Where the entries that followed a lost one begin; NONE when nothing was lost under that id. */
  positionOfLost(id: string): number {
    return this.#lost.get(id)?.position ?? NONE;
  }

  /** Remembers the identity of a damaged entry, so that its children find their grandparent. */
  addLost({ id, parentId }: LostHead): void {
    this.#lost.set(id, { parent: this.#resolve(parentId).parent, position: this.size });
  }

  /** Adds an entry, sets its id and parentId where the file had none or wrong ones, and moves the leaf to it. */
  add(entry: Entry, place?: EntryPlace): number {
    const index = this.size;
    const { parent, missing } = this.#resolve(entry.parentId);
    if (missing) this.relinked++;
    // The same string for both ends of the link: half the ids of a long session in memory.
    entry.parentId = this.ids[parent] ?? null;
    const known = typeof entry.id === "string" && entry.id !== "" && !this.#byId.has(entry.id);
    // Two entries with one id: both stay, and children that follow belong to the newer one.
    const filed = entry.id;
    if (!known) entry.id = this.#idFor(index);
    this.ids.push(entry.id);
    this.types.push(entry.type);
    this.parents.push(parent);
    this.#entries.push(entry);
    this.#offsets.push(place?.offset ?? 0);
    this.#lengths.push(place?.length ?? 0);
    this.#byId.set(entry.id, index);
    if (!known && typeof filed === "string" && filed !== "") this.#renamed.set(filed, index);
    this.states.push(nextState(this.stateAt(parent), entry, index));
    this.#note(entry, index);
    this.leaf = this.#leafAfter(entry, index);
    return index;
  }

  /** What holds for the whole file, whatever the branch. */
  #note(entry: Entry, index: number): void {
    if (entry.type === "custom") this.newestCustom.set(entry.customType, index);
    else if (entry.type === "session_info" && typeof entry.name === "string")
      this.name = entry.name.trim() || undefined;
    else if (entry.type === "label" && entry.label) this.labels.set(entry.targetId, entry.label);
    else if (entry.type === "label") this.labels.delete(entry.targetId);
  }

  readonly #renamed = new Map<string, number>();

  /** An id of 8 hex digits that no entry has. */
  freshId(make: () => string = randomEntryId): string {
    for (let tries = 0; tries < 100; tries++) {
      const id = make();
      if (!this.#byId.has(id) && !this.#lost.has(id)) return id;
    }
    return this.#idFor(this.size);
  }

  setPlace(index: number, { offset, length }: EntryPlace): void {
    this.#offsets[index] = offset;
    this.#lengths[index] = length;
  }

  /** The entry with this number; read from the file when it was dropped. */
  entryAt(index: number): Entry | undefined {
    // Of an array V8 looks up a negative index as a name, which is slow.
    if (index < 0) return undefined;
    return this.#entries[index] ?? this.#reread(index);
  }

  /** As `entryAt`, and keeps the entry in memory. */
  warm(index: number): Entry | undefined {
    const entry = this.entryAt(index);
    if (entry && !this.#entries[index]) this.#entries[index] = entry;
    return entry;
  }

  /** Drops the entries below `index` that can be read again. */
  dropBelow(index: number): void {
    for (; this.#cold < index; this.#cold++) {
      if (this.#lengths[this.#cold]) this.#entries[this.#cold] = undefined;
    }
  }

  /** Numbers from the root (or from just below `stop`) down to `leaf`. */
  path(leaf: number, stop: number = NONE): number[] {
    const path: number[] = [];
    for (let at = leaf; at > stop; at = this.parents[at] ?? NONE) path.push(at);
    return path.reverse();
  }

  #reread(index: number): Entry | undefined {
    const length = this.#lengths[index];
    const entry = length ? this.readEntry({ offset: this.#offsets[index] ?? 0, length }) : undefined;
    const id = this.ids[index];
    if (!entry || id === undefined) return undefined;
    entry.id = id;
    entry.parentId = this.ids[this.parents[index] ?? NONE] ?? null;
    return entry;
  }

  /** Version 1 names no parent: it is the entry before. So it is when the named one cannot be found (law F9). */
  #resolve(parentId: string | null | undefined): { parent: number; missing: boolean } {
    const last = this.size - 1;
    if (parentId === null) return { parent: NONE, missing: false };
    if (typeof parentId !== "string") return { parent: last, missing: false };
    if (parentId === this.ids[last]) return { parent: last, missing: false };
    const found = this.#renamed.get(parentId) ?? this.#byId.get(parentId);
    if (found !== undefined) return { parent: found, missing: false };
    return { parent: this.#lost.get(parentId)?.parent ?? last, missing: true };
  }

  /** An id made of the entry's number: the same each time the file is read, since old bytes never change. */
  #idFor(index: number): string {
    for (let salt = 0; ; salt++) {
      const id = (Math.imul(index + 1 + salt * 0x10001, 0x9e3779b1) >>> 0).toString(16).padStart(8, "0");
      if (!this.#byId.has(id)) return id;
    }
  }

  #leafAfter(entry: Entry, index: number): number {
    if (entry.type !== "custom" || entry.customType !== LEAF_RECORD) return index;
    const target = leafOf(entry.data);
    if (target === null) return NONE;
    const found = target === undefined ? NONE : this.indexOf(target);
    return found === NONE ? (this.parents[index] ?? NONE) : found;
  }
}

function leafOf(data: unknown): string | null | undefined {
  if (typeof data !== "object" || data === null || !("leafId" in data)) return undefined;
  return typeof data.leafId === "string" || data.leafId === null ? data.leafId : undefined;
}

function nextState(state: PathState, entry: Entry, index: number): PathState {
  switch (entry.type) {
    case "compaction":
      return { ...state, compaction: index };
    case "context_edit":
      return { ...state, edits: { entry: index, previous: state.edits } };
    case "thinking_level_change":
      return withLevel(state, entry.thinkingLevel);
    case "model_change":
      return withModel(state, entry.provider, entry.modelId);
    case "message": {
      const { message } = entry;
      if (message.role === "system") return { ...state, systems: { entry: index, previous: state.systems } };
      if (message.role !== "assistant") return state;
      return withLevel(withModel(state, message.provider, message.model), message.thinkingLevel);
    }
    case "usage":
    case "branch_summary":
    case "custom":
    case "custom_message":
    case "label":
    case "session_info":
      return state;
    default:
      return assertNever(entry, state);
  }
}

function withModel(state: PathState, provider: unknown, modelId: unknown): PathState {
  if (typeof provider !== "string" || typeof modelId !== "string" || !provider || !modelId) return state;
  if (state.model?.provider === provider && state.model.modelId === modelId) return state;
  return { ...state, model: { provider, modelId } };
}

function withLevel(state: PathState, level: unknown): PathState {
  if (typeof level !== "string" || state.thinkingLevel === level) return state;
  return { ...state, thinkingLevel: level };
}
