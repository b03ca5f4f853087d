/** Bytes `start` (in) to `end` (out) of a file as the model was shown them. */
export interface SeenRange {
  readonly start: number;
  readonly end: number;
  /** SHA-1 of the bytes; equality only, nothing secret rests on it. */
  readonly digest: string;
}

export interface SeenFile {
  readonly size: number;
  readonly mtimeMs: number;
  readonly ranges: readonly SeenRange[];
}

/** The part of `fs.Stats` that tells versions of a file apart. */
export interface FileStamp {
  readonly size: number;
  readonly mtimeMs: number;
}

const MAX_FILES = 500;
const MAX_RANGES = 8;

/**
 * What the model knows of the files of a session, by real path; the newest 500 files are kept. It only ever leads to
 * a note in a result: content alone decides whether an edit fits (R052, R054, R068). Plain JSON by `toJSON`, for
 * the session's snapshot (law R7).
 */
export class FileReads {
  readonly #files: Map<string, SeenFile>;

  constructor(saved: Readonly<Record<string, SeenFile>> = {}) {
    this.#files = new Map(Object.entries(saved));
  }

  /** A part was shown. Parts of an older version are forgotten. */
  add(realPath: string, stamp: FileStamp, range: SeenRange): void {
    const known = this.#files.get(realPath);
    const kept = known && known.size === stamp.size && known.mtimeMs === stamp.mtimeMs ? known.ranges : [];
    this.#put(realPath, stamp, [...kept, range].slice(-MAX_RANGES));
  }

  /** The session itself made this version: the model knows it whole, and no older one counts. */
  replace(realPath: string, stamp: FileStamp, whole: SeenRange): void {
    this.#put(realPath, stamp, [whole]);
  }

  get(realPath: string): SeenFile | undefined {
    return this.#files.get(realPath);
  }

  toJSON(): Record<string, SeenFile> {
    return Object.fromEntries(this.#files);
  }

  #put(realPath: string, { size, mtimeMs }: FileStamp, ranges: readonly SeenRange[]): void {
    this.#files.delete(realPath);
    this.#files.set(realPath, { size, mtimeMs, ranges });
    if (this.#files.size <= MAX_FILES) return;
    for (const oldest of this.#files.keys()) {
      this.#files.delete(oldest);
      return;
    }
  }
}
