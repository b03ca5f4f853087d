import type { RipgrepOutcome } from "../../platform/ripgrep.ts";
import { preview } from "./preview.ts";
import type { RgEvent } from "./rg-event.ts";

/** Text that is kept at most; a little more than a result shows, to be sorted. */
const MAX_KEPT_CHARS = 128 * 1024;

interface HitLine {
  /** From 1; 0 when it is not known. */
  number: number;
  text: string;
  isMatch: boolean;
}

export interface FileHits {
  /** Absolute. */
  path: string;
  lines: HitLine[];
  matches: number;
}

export interface HitLimits {
  /** Matching lines over all files. */
  matches: number;
  /** Lines of context around each match. */
  context: number;
  /** False for files that do not count. */
  accepts(path: string): boolean;
}

/** One run of ripgrep: what it found and how it ended. */
export interface GrepPass {
  hits: Hits;
  outcome: RipgrepOutcome;
}

/** Gathers what one run of ripgrep finds, in bounded memory. */
export class Hits {
  readonly #limits: HitLimits;
  readonly #files = new Map<string, FileHits>();
  #matches = 0;
  #kept = 0;
  #more = false;
  #searchedFiles: number | undefined;

  constructor(limits: HitLimits) {
    this.#limits = limits;
  }

  /** Sorted by path. */
  get files(): FileHits[] {
    return [...this.#files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  get matches(): number {
    return this.#matches;
  }

  /** There is more than was taken. */
  get more(): boolean {
    return this.#more;
  }

  /** How many files were looked into; known only when the search came to its end. */
  get searchedFiles(): number | undefined {
    return this.#searchedFiles;
  }

  /** Takes one event; false when there is enough. */
  add(event: RgEvent): boolean {
    if (event.type === "summary") {
      this.#searchedFiles = event.searchedFiles;
      return true;
    }
    if (!this.#limits.accepts(event.path)) return true;
    if (event.isMatch && (this.#matches === this.#limits.matches || this.#kept > MAX_KEPT_CHARS)) {
      this.#more = true;
      this.#dropContextOfNext(event.path);
      return false;
    }
    const file = this.#fileOf(event.path);
    if (event.isMatch) {
      this.#matches++;
      file.matches++;
    }
    for (const line of linesOf(event)) {
      this.#kept += line.text.length;
      file.lines.push(line);
    }
    return true;
  }

  /** Lines that came before a match which is not taken. */
  #dropContextOfNext(path: string): void {
    const file = this.#files.get(path);
    if (!file) return;
    const last = file.lines.findLast(({ isMatch }) => isMatch)?.number ?? 0;
    file.lines = file.lines.filter(({ number }) => number <= last + this.#limits.context);
  }

  #fileOf(path: string): FileHits {
    const known = this.#files.get(path);
    if (known) return known;
    const file: FileHits = { path, lines: [], matches: 0 };
    this.#files.set(path, file);
    return file;
  }
}

function linesOf(event: Exclude<RgEvent, { type: "summary" }>): HitLine[] {
  if (event.type === "long")
    return [{ number: 0, text: "[a line of more than 8 MB; not shown]", isMatch: event.isMatch }];
  const { bytes, number, hits, isMatch } = event;
  const whole = bytes.at(-1) === 0x0a ? bytes.subarray(0, -1) : bytes;
  if (!whole.includes(0x0a)) return [{ number, text: preview(whole, hits), isMatch }];
  return splitLines(whole).map((line, index) => ({ number: number + index, text: preview(line, []), isMatch }));
}

/** A match over several lines; its first ones are enough to find it. */
function splitLines(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  let start = 0;
  for (let end = bytes.indexOf(0x0a); end >= 0 && lines.length < 20; end = bytes.indexOf(0x0a, start)) {
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  if (lines.length < 20) lines.push(bytes.subarray(start));
  return lines;
}
