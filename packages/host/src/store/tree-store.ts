import type { CompactionEntry, CustomEntry, Entry, EntryDraft, SessionHeader } from "./entries.ts";
import { type EntryTree, NONE } from "./entry-tree.ts";
import { parseEntryAgain } from "./load-session.ts";
import { repairEntry } from "./normalize-entry.ts";
import { choiceAt, firstKept, project } from "./projection.ts";
import type { Recorder } from "./recorder.ts";
import { serializeLine } from "./serialize-entry.ts";
import type { Projection, RecordingState, SessionStore } from "./session-store.ts";
import { LEAF_RECORD } from "./tau-record-types.ts";

/** An entry of another session, or one that is made here. */
export type Seed = Entry | EntryDraft;

export interface TreeStoreOptions {
  header: SessionHeader;
  path: string | undefined;
  tree: EntryTree;
  recorder: Recorder;
  warnings: readonly string[];
  /** Milliseconds since 1970. */
  now: () => number;
  newId: (() => string) | undefined;
}

/** A tree of entries and the place where it is recorded. */
export class TreeStore implements SessionStore {
  readonly header: SessionHeader;
  readonly path: string | undefined;
  readonly warnings: readonly string[];
  readonly #tree: EntryTree;
  readonly #recorder: Recorder;
  readonly #now: () => number;
  readonly #newId: (() => string) | undefined;

  constructor({ header, path, tree, recorder, warnings, now, newId }: TreeStoreOptions) {
    this.header = header;
    this.path = path;
    this.warnings = warnings;
    this.#tree = tree;
    this.#recorder = recorder;
    this.#now = now;
    this.#newId = newId;
  }

  get leafId(): string | null {
    return this.#tree.ids[this.#tree.leaf] ?? null;
  }

  get recording(): RecordingState {
    return this.#recorder.state;
  }

  append(draft: EntryDraft): Entry {
    return this.#add(draft, this.#tree.leaf);
  }

  entry(id: string): Entry | undefined {
    return this.#tree.entryAt(this.#tree.indexOf(id));
  }

  entries(): readonly Entry[] {
    return this.#read(Array.from({ length: this.#tree.size }, (_, index) => index));
  }

  *walk(): Generator<Entry> {
    for (let index = 0; index < this.#tree.size; index++) {
      const entry = this.#tree.entryAt(index);
      if (entry) yield entry;
    }
  }

  branch(leafId?: string | null): Entry[] {
    return this.#read(this.#tree.path(this.#indexOfLeaf(leafId)));
  }

  projection(leafId?: string | null): Projection {
    return project(this.#tree, this.#indexOfLeaf(leafId));
  }

  choice(): Pick<Projection, "model" | "thinkingLevel"> {
    return choiceAt(this.#tree, this.#tree.leaf);
  }

  moveLeaf(id: string | null): void {
    const target = this.#indexOfLeaf(id);
    if (target === this.#tree.leaf) return;
    this.#add({ type: "custom", customType: LEAF_RECORD, data: { leafId: id } }, target);
  }

  name(): string | undefined {
    return this.#tree.name;
  }

  labels(): ReadonlyMap<string, string> {
    return this.#tree.labels;
  }

  newestCustom(customType: string): CustomEntry | undefined {
    const entry = this.#tree.entryAt(this.#tree.newestCustom.get(customType) ?? NONE);
    return entry?.type === "custom" ? entry : undefined;
  }

  sync(): void {
    this.#recorder.sync();
  }

  close(): void {
    this.#recorder.close();
  }

  /** Puts entries of another session at the beginning, one below the other; they start no file by themselves. */
  seed(seeds: readonly Seed[]): void {
    const taken = new Set(seeds.flatMap((seed) => ("id" in seed ? [seed.id] : [])));
    for (const seed of seeds) {
      const parentId = this.leafId;
      if ("id" in seed) this.#put({ ...seed, parentId });
      else this.#put(this.#entryOf(seed, { parentId, taken }));
    }
  }

  #add(draft: EntryDraft, parent: number): Entry {
    const { entry, index } = this.#put(this.#entryOf(draft, { parentId: this.#tree.ids[parent] ?? null }));
    if (isConversation(entry)) this.#recorder.release();
    if (entry.type === "compaction") this.#dropSummarized(entry, index);
    return entry;
  }

  #entryOf(draft: EntryDraft, { parentId, taken }: { parentId: string | null; taken?: ReadonlySet<string> }): Entry {
    let id = this.#tree.freshId(this.#newId);
    while (taken?.has(id)) id = this.#tree.freshId();
    const identity = { type: draft.type, id, parentId, timestamp: new Date(this.#now()).toISOString() };
    // Type and identity first in the line: a damaged one can still be linked by its head.
    const entry: Entry = Object.assign(identity, draft);
    repairEntry(entry);
    return entry;
  }

  #put(made: Entry): { entry: Entry; index: number } {
    const line = serializeLine(made);
    // Memory says what the file says, so that a resumed session sends the same bytes (law O3).
    const entry = (line.changed ? parseEntryAgain(line.text) : undefined) ?? made;
    const index = this.#tree.add(entry);
    this.#recorder.add(line.text, index);
    return { entry, index };
  }

  /** What a compaction took out of the context is read from the file again when someone asks (law O4, R168). */
  #dropSummarized(compaction: CompactionEntry, index: number): void {
    if (this.#recorder.placesHold()) this.#tree.dropBelow(firstKept(this.#tree, compaction, index));
  }

  #read(indexes: readonly number[]): Entry[] {
    return indexes.map((index) => this.#tree.entryAt(index)).filter((entry) => entry !== undefined);
  }

  #indexOfLeaf(leafId: string | null | undefined): number {
    if (leafId === undefined) return this.#tree.leaf;
    if (leafId === null) return NONE;
    const index = this.#tree.indexOf(leafId);
    if (index === NONE) throw new Error(`no entry ${leafId} in session ${this.header.id}`);
    return index;
  }
}

/** Law F3: only these make a session worth a file. */
function isConversation(entry: Entry): boolean {
  return entry.type === "message" && (entry.message.role === "user" || entry.message.role === "assistant");
}
