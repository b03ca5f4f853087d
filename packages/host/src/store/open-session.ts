import { closeSync, existsSync, mkdirSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { codeOf, reasonOf } from "../platform/thrown.ts";
import type { SessionHeader } from "./entries.ts";
import { EntryTree } from "./entry-tree.ts";
import { SessionFileError, SessionLockedError } from "./errors.ts";
import { acquireWherePossible, Journal, type JournalOptions } from "./journal.ts";
import { type LoadedSession, loadSession } from "./load-session.ts";
import { openSessionFile } from "./open-session-file.ts";
import { idOfFileName, isSessionId, newSessionId, sessionDirectory, sessionFileName } from "./paths.ts";
import { memoryRecorder, readOnlyRecorder } from "./recorder.ts";
import { entryReader } from "./reread.ts";
import type { SessionStore } from "./session-store.ts";
import { nodeStoreFs, type StoreFs } from "./store-fs.ts";
import { type Seed, TreeStore } from "./tree-store.ts";
import { createWriterLock, type WriterLock } from "./writer-lock.ts";

export interface NewSessionOptions {
  /** Absolute path of the working directory. */
  cwd: string;
  /** Session id; default: a UUID version 7. */
  id?: string;
  /** Path of the session this one comes from. */
  parentSession?: string;
  /** Milliseconds since 1970; default: the clock. */
  now?: () => number;
  /** Makes entry ids; default: 8 random hex digits. One that is in use is asked for again. */
  newId?: () => string;
}

export interface CreateSessionOptions extends NewSessionOptions {
  /** Folder of all sessions; the file goes into the folder of `cwd` in it. */
  sessionsDir: string;
  /** The file; default: named by time and id, in the folder of `cwd`. */
  path?: string;
  /** Keep the id to this process from now on, not only from the first message on: for one that a user chose. */
  claim?: boolean;
  fs?: StoreFs;
}

export interface OpenSessionOptions {
  /** Only to look at: no lock, and nothing is written. */
  readOnly?: boolean;
  /** Default true: be the one writer. */
  lock?: boolean;
  /** Working directory to assume when the file has lost its header; default: the file's folder. */
  cwd?: string;
  now?: () => number;
  newId?: () => string;
  fs?: StoreFs;
}

/**
 * A new session. Its file is made with the first user or assistant message, exclusively; until then nothing
 * touches the disk but the lock that `claim` asks for.
 *
 * @throws SessionFileError for an id that cannot be part of a file's name
 * @throws SessionLockedError when another process begins a session with the id that is to be claimed
 */
export function createSessionStore(options: CreateSessionOptions): SessionStore {
  return createSeededStore(options, { seeds: [], write: false });
}

/**
 * A new session that begins with entries of another one; they keep their ids. With `write` the file is made at once.
 *
 * @throws SessionFileError for an id that cannot be part of a file's name
 */
export function createSeededStore(
  options: CreateSessionOptions,
  { seeds, write }: { seeds: readonly Seed[]; write: boolean },
): SessionStore {
  const header = newHeader(options);
  const folder = sessionDirectory(options.sessionsDir, options.cwd);
  const path = options.path ?? join(folder, sessionFileName(header.timestamp, header.id));
  const tree = new EntryTree();
  tree.readEntry = entryReader(path);
  const claim = options.claim ? claimId({ ...header, path, sessionsDir: options.sessionsDir }) : undefined;
  const lock = createWriterLock(path);
  const journal = newJournal(tree, { path, fs: options.fs ?? nodeStoreFs, lock, ...(claim && { claim }) });
  journal.add(JSON.stringify(header), HEADER);
  const store = treeStore(options, { header, path, tree, recorder: journal, warnings: [] });
  store.seed(seeds);
  if (write) journal.release();
  return store;
}

/**
 * Two processes that choose one id look for its file before either has made it, and would make one each. In the folder
 * of all sessions, since they may work in different places.
 */
function claimId({ sessionsDir, id, path }: { sessionsDir: string; id: string; path: string }): WriterLock {
  const lock = createWriterLock(join(sessionsDir, `.${id}`));
  try {
    mkdirSync(sessionsDir, { recursive: true, mode: 0o700 });
    acquireWherePossible(lock);
  } catch (error) {
    if (error instanceof SessionLockedError) throw new SessionLockedError({ ...error, path, begins: id });
    // A folder that cannot be made is reported when the session is to be saved (law F11).
    if (codeOf(error) === undefined) throw error;
  }
  return lock;
}

/** A session that is never written to disk. */
export function createMemoryStore(options: NewSessionOptions, seeds: readonly Seed[] = []): SessionStore {
  const parts = { header: newHeader(options), path: undefined, tree: new EntryTree(), recorder: memoryRecorder };
  const store = treeStore(options, { ...parts, warnings: [] });
  store.seed(seeds);
  return store;
}

/**
 * A session whose file was announced to somebody and is not there, since nothing was said in it yet: empty,
 * at the same place, with the id that the file's name has. Undefined when the name is not that of a session.
 */
export function announcedSession(path: string, { cwd }: { cwd: string }): SessionStore | undefined {
  const file = resolve(path);
  const id = idOfFileName(basename(file));
  if (id === undefined || !isSessionId(id) || existsSync(file)) return undefined;
  return createSessionStore({ sessionsDir: dirname(file), path: file, cwd, id });
}

/**
 * Opens a session file, as its writer unless `readOnly`. Damage is read around and reported in `warnings`; a
 * disk that refuses to be written is reported in `recording`.
 *
 * @throws SessionLockedError when another process writes to it
 * @throws SessionFileError when there is no such file, no session in it, or one of a newer format that is not to be
 *   only looked at
 */
export function openSessionStore(path: string, options: OpenSessionOptions = {}): SessionStore {
  const file = resolve(path);
  const fd = openForReading(file);
  let lock: WriterLock | undefined;
  try {
    // Beside the file itself, by whatever link it was opened. Before reading, or another writer's line could be missed.
    if (!options.readOnly && options.lock !== false) lock = createWriterLock(realpathSync(file));
    if (lock) acquireWherePossible(lock);
    const loaded = loadSession({ fd, path: file, cwd: options.cwd ?? "" });
    if (!options.readOnly) checkWritable(file, loaded);
    return storeOf(loaded, { file, lock, options });
  } catch (error) {
    lock?.release();
    throw codeOf(error) === "EISDIR" ? unreadable(file, error) : error;
  } finally {
    closeSync(fd);
  }
}

/** Lines of this version among those of a newer one could be read wrongly by the program that wrote the others. */
function checkWritable(path: string, { newerVersion }: LoadedSession): void {
  if (newerVersion === undefined) return;
  const message =
    `${path} is of version ${newerVersion} of the session format, newer than this tau writes: ` +
    "update tau, or continue in a copy (--fork); --export shows what can be read";
  throw new SessionFileError({ code: "newer_version", path, message });
}

const HEADER = -1;

interface Opening {
  file: string;
  lock: WriterLock | undefined;
  options: OpenSessionOptions;
}

function storeOf(loaded: LoadedSession, { file, lock, options }: Opening): SessionStore {
  const { header, tree, warnings, terminated } = loaded;
  tree.readEntry = entryReader(file);
  if (options.readOnly) return treeStore(options, { header, path: file, tree, recorder: readOnlyRecorder(), warnings });
  const fs = options.fs ?? nodeStoreFs;
  const recorder = newJournal(tree, { path: file, fs, lock, existing: { terminated } });
  recorder.prepare();
  return treeStore(options, { header, path: file, tree, recorder, warnings });
}

function newHeader({ cwd, id, parentSession, now = Date.now }: NewSessionOptions): SessionHeader {
  const time = now();
  const sessionId = id ?? newSessionId(time);
  if (!isSessionId(sessionId)) {
    const message = `"${sessionId}" cannot be a session id: use letters, digits, dots, dashes and underscores`;
    throw new SessionFileError({ code: "bad_id", path: sessionId, message });
  }
  const base = { type: "session", version: 3, id: sessionId, timestamp: new Date(time).toISOString(), cwd } as const;
  return parentSession === undefined ? base : { ...base, parentSession };
}

function newJournal(tree: EntryTree, options: Omit<JournalOptions, "onPlaced">): Journal {
  return new Journal({
    ...options,
    onPlaced: (index, place) => {
      if (index !== HEADER) tree.setPlace(index, place);
    },
  });
}

type StoreParts = Omit<ConstructorParameters<typeof TreeStore>[0], "now" | "newId">;

function treeStore({ now, newId }: { now?: () => number; newId?: () => string }, parts: StoreParts): TreeStore {
  return new TreeStore({ ...parts, now: now ?? Date.now, newId });
}

function openForReading(path: string): number {
  try {
    return openSessionFile(path);
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): SessionFileError {
  const missing = codeOf(error) === "ENOENT";
  const message = missing ? `there is no session file ${path}` : `cannot read session ${path}: ${reasonOf(error)}`;
  return new SessionFileError({ code: missing ? "not_found" : "unreadable", path, message });
}
