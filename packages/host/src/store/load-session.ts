import { basename, dirname } from "node:path";
import type { CompactionEntry, Entry, SessionHeader } from "./entries.ts";
import { type EntryPlace, EntryTree, NONE } from "./entry-tree.ts";
import { SessionFileError } from "./errors.ts";
import { toEntry, toHeader } from "./normalize-entry.ts";
import { isJsonObject, type JsonObject, parseLine, parseObject } from "./parse-line.ts";
import { idOfFileName } from "./paths.ts";
import { firstKept } from "./projection.ts";
import { type LinePlace, readLines } from "./read-lines.ts";

export interface LoadedSession {
  header: SessionHeader;
  tree: EntryTree;
  /** At most one line each: a version that is not known, and what was damaged (law F9). */
  warnings: string[];
  /** Whether the last line ends with an LF. */
  terminated: boolean;
  /** The format's version when it is one that this program does not know. */
  newerVersion: number | undefined;
}

/** The newest version of the format that is read and written. */
const VERSION = 3;

// Above this many bytes of lines, entries are kept out of memory until someone asks for them.
const HOT_BYTES = 64 * 1024 * 1024;
const BOM = "\ufeff";

/**
 * Reads a session file of version 1, 2 or 3. Everything readable is read; the file is not changed.
 *
 * @param cwd working directory to assume when the file has lost its header
 * @throws SessionFileError when nothing in the file is a session's
 */
export function loadSession({ fd, path, cwd }: { fd: number; path: string; cwd: string }): LoadedSession {
  const loader = new SessionLoader();
  const { terminated } = readLines({
    fd,
    onLine: (line, place) => loader.takeLine(line, place),
    onOversized: () => loader.damage.oversized++,
  });
  const { tree, damage } = loader;
  const header = loader.header ?? rescuedHeader(tree, { path, cwd });
  if (!header) {
    const message = `${path} is not a session file: it has neither a header nor an entry. Start a new session`;
    throw new SessionFileError({ code: "not_a_session", path, message });
  }
  const torn = !terminated && loader.lastLineWasBad;
  return {
    header,
    tree,
    terminated,
    newerVersion: loader.newerVersion,
    warnings: [
      ...newerWarning(path, loader.newerVersion),
      ...describe(path, { ...damage, torn, headless: !loader.header, relinked: tree.relinked }),
    ],
  };
}

class SessionLoader {
  readonly tree = new EntryTree();
  readonly damage = { bad: 0, nul: 0, glued: 0, oversized: 0, foreign: 0, blocks: 0 };
  header: SessionHeader | undefined;
  newerVersion: number | undefined;
  lastLineWasBad = false;
  /** Numbers of entries by place in the list, the header first, for version 1. */
  #listed: number[] = [];
  #hotBytes = 0;

  takeLine(line: string, place: LinePlace): void {
    const text = place.offset === 0 && line.startsWith(BOM) ? line.slice(1) : line;
    const whole = parseObject(text);
    this.lastLineWasBad = false;
    if (whole) this.#takeValue(whole, text === line ? place : undefined);
    else this.#takeDamaged(text);
  }

  /** An entry that shares its line, or was repaired, cannot be read again from a place: it stays in memory. */
  #takeDamaged(text: string): void {
    const { items, damage } = parseLine(text);
    if (damage) this.damage[damage]++;
    this.lastLineWasBad = damage !== undefined;
    for (const item of items) {
      if ("lost" in item) this.tree.addLost(item.lost);
      else this.#takeValue(item.value, undefined);
    }
  }

  #takeValue(value: JsonObject, place: EntryPlace | undefined): void {
    if (value.type === "session") {
      this.#takeHeader(value);
      return;
    }
    const converted = value.type === "compaction" && this.#convertVersion1(value);
    const entry = toEntry(value, this.damage);
    if (entry) this.#addEntry(entry, converted ? undefined : place);
    else this.#refuse(value);
  }

  #takeHeader(value: JsonObject): void {
    const header = toHeader(value);
    // A second header comes from a concatenated file; the entries behind it are still this session's.
    if (this.header || !header) this.damage.foreign++;
    else this.header = header;
    if (typeof value.version === "number" && value.version > VERSION) this.newerVersion = value.version;
    this.#listed.push(NONE);
  }

  #addEntry(entry: Entry, place: EntryPlace | undefined): void {
    const index = this.tree.add(entry, place);
    this.#listed.push(index);
    this.#hotBytes += place?.length ?? 0;
    if (entry.type === "compaction") this.tree.dropBelow(firstKept(this.tree, entry, index));
    if (this.#hotBytes <= HOT_BYTES) return;
    this.tree.dropBelow(this.tree.size);
    this.#hotBytes = 0;
  }

  #refuse(value: JsonObject): void {
    this.damage.bad++;
    const { id, parentId } = value;
    if (typeof id !== "string") return;
    this.tree.addLost({ id, parentId: typeof parentId === "string" ? parentId : null });
  }

  /** Version 1 names the first kept entry by its place in the list of lines. */
  #convertVersion1(value: JsonObject): boolean {
    const place = value.firstKeptEntryIndex;
    if (value.type !== "compaction" || typeof place !== "number") return false;
    const id = this.tree.ids[this.#listed[place] ?? NONE];
    if (id !== undefined) value.firstKeptEntryId ??= id satisfies CompactionEntry["firstKeptEntryId"];
    return true;
  }
}

/** A header for a file that lost its own: the id from the file's name, the time of the first entry. */
function rescuedHeader(tree: EntryTree, { path, cwd }: { path: string; cwd: string }): SessionHeader | undefined {
  const first = tree.entryAt(0);
  if (!first) return undefined;
  const id = idOfFileName(basename(path)) ?? basename(path).replace(/\.jsonl$/, "");
  return { type: "session", version: 3, id, timestamp: first.timestamp, cwd: cwd || dirname(path) };
}

function newerWarning(path: string, version: number | undefined): string[] {
  if (version === undefined) return [];
  return [
    `${path} is of version ${version} of the session format and this tau knows ${VERSION}: what it does not know is not shown`,
  ];
}

interface Damage {
  bad: number;
  nul: number;
  glued: number;
  oversized: number;
  foreign: number;
  /** Content blocks. */
  blocks: number;
  relinked: number;
  torn: boolean;
  headless: boolean;
}

function describe(path: string, damage: Damage): string[] {
  const skipped = damage.bad + damage.oversized;
  const parts = [
    damage.headless && "its header is missing",
    skipped > 0 && `${count(skipped, "damaged line")} skipped${damage.torn ? " (the last one is torn)" : ""}`,
    damage.blocks > 0 && `${count(damage.blocks, "damaged part")} of messages left out`,
    damage.nul > 0 && `${count(damage.nul, "run")} of zero bytes skipped`,
    damage.glued > 0 && `${count(damage.glued, "line")} with several pieces taken apart`,
    damage.foreign > 0 && `${count(damage.foreign, "further header")} skipped`,
    damage.relinked > 0 && `${count(damage.relinked, "entry", "entries")} linked to the nearest earlier one`,
  ].filter((part) => part !== false);
  if (parts.length === 0) return [];
  return [`${path} is damaged: ${parts.join(", ")}. The rest was read; nothing was overwritten`];
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** Reads one line again that `loadSession` or the writer knows the place of. */
export function parseEntryAgain(line: string): Entry | undefined {
  const [item] = parseLine(line).items;
  return item && "value" in item && isJsonObject(item.value) ? toEntry(item.value) : undefined;
}
