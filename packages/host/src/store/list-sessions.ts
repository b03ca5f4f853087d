import { existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { codeOf } from "../platform/thrown.ts";
import { idOfFileName, sessionDirectory } from "./paths.ts";
import { type NameBudget, peekSession, type SessionSummary } from "./peek-session.ts";
import { fileWrittenAt } from "./written-at.ts";

const EXTENSION = ".jsonl";
// What a list may read of the middle of large files, to find their names: about 50 ms.
const NAME_BUDGET_BYTES = 32 * 1024 * 1024;

/**
 * The sessions of a working directory, or of all, the newest first. Reads the head and the tail of each file.
 * Files that hold nothing of a session are left out.
 */
export function listSessions(sessionsDir: string, { cwd }: { cwd?: string } = {}): SessionSummary[] {
  const folders = cwd === undefined ? foldersIn(sessionsDir) : [sessionDirectory(sessionsDir, cwd)];
  const files = newestFirst(folders.flatMap(filesIn));
  const budget: NameBudget = { bytes: NAME_BUDGET_BYTES };
  const summaries = files.map(({ path }) => peekSession(path, budget)).filter((summary) => summary !== undefined);
  return cwd === undefined ? summaries : summaries.filter((summary) => isOf(summary.cwd, cwd));
}

/**
 * Path of the session of this working directory that was written last, by its entries. Of other files only the
 * header and the end are read.
 */
export function latestSession(sessionsDir: string, cwd: string): string | undefined {
  const files = newestFirst(filesIn(sessionDirectory(sessionsDir, cwd)));
  return files.find(({ path }) => {
    const summary = peekSession(path);
    return summary && isOf(summary.cwd, cwd);
  })?.path;
}

/** How a search for one session ended; `paths` are the candidates, the newest first. */
export type SessionLookup =
  | { status: "found"; path: string }
  | { status: "ambiguous"; paths: string[] }
  | { status: "none" };

/**
 * The session that a user means by a path, an id, the beginning or the end of one, or its display name. Whole ids win
 * over beginnings, these over ends, ids over display names, sessions of `cwd` over others, and names of files over what
 * is in them, which is only read when no name fits.
 */
export function findSession(sessionsDir: string, query: string, cwd: string): SessionLookup {
  const path = resolve(cwd, query);
  const isPath = /[/\\]/.test(query) || query.endsWith(EXTENSION);
  if (isPath) return isFile(path) ? { status: "found", path } : { status: "none" };
  if (query === "") return { status: "none" };
  const here = filesIn(sessionDirectory(sessionsDir, cwd));
  const all = foldersIn(sessionsDir).flatMap(filesIn);
  const elsewhere = all.filter((file) => !here.some((own) => own.path === file.path));
  for (const idOf of [idByName, idByHeader]) {
    for (const fits of [isWhole, isBeginning, isEnd]) {
      const found = [here, elsewhere].map((files) => files.filter(({ path }) => fits(idOf(path) ?? "", query)));
      const lookup = lookupOf(found.find((files) => files.length > 0) ?? []);
      if (lookup.status !== "none") return lookup;
    }
  }
  const named = [here, elsewhere].map((files) => files.filter(({ path }) => isNamed(path, query)));
  return lookupOf(named.find((files) => files.length > 0) ?? []);
}

const idByName = (path: string): string | undefined => idOfFileName(basename(path));
const idByHeader = (path: string): string | undefined => peekSession(path)?.id;
const isWhole = (id: string, query: string): boolean => id === query;
const isBeginning = (id: string, query: string): boolean => id.startsWith(query);
// Ids begin with the time, so those of one day differ at their end alone.
const isEnd = (id: string, query: string): boolean => id.endsWith(query);

function isNamed(path: string, query: string): boolean {
  return peekSession(path, { bytes: NAME_BUDGET_BYTES })?.name?.toLowerCase() === query.toLowerCase();
}

function lookupOf(files: SessionFile[]): SessionLookup {
  const paths = newestFirst(files).map(({ path }) => path);
  const [path] = paths;
  if (path === undefined) return { status: "none" };
  return paths.length === 1 ? { status: "found", path } : { status: "ambiguous", paths };
}

interface SessionFile {
  path: string;
  /** Names the file itself: links to one file have the same. */
  identity: string;
}

function newestFirst(files: readonly SessionFile[]): SessionFile[] {
  const dated = withoutLinks(files).map((file) => ({ file, written: fileWrittenAt(file.path) }));
  return dated.sort((a, b) => b.written - a.written || (a.file.path < b.file.path ? 1 : -1)).map(({ file }) => file);
}

/** Each file once, under its own name where that is among them. */
function withoutLinks(files: readonly SessionFile[]): SessionFile[] {
  const kept = new Map<string, SessionFile>();
  for (const file of files) {
    const known = kept.get(file.identity);
    if (!known || realpathSync(file.path) === file.path) kept.set(file.identity, file);
  }
  return [...kept.values()];
}

function foldersIn(sessionsDir: string): string[] {
  return names(sessionsDir).map((name) => join(sessionsDir, name));
}

function filesIn(folder: string): SessionFile[] {
  return names(folder)
    .filter((name) => name.endsWith(EXTENSION))
    .flatMap((name) => statFile(join(folder, name)));
}

function statFile(path: string): SessionFile[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats?.isFile() ? [{ path, identity: `${stats.dev}:${stats.ino}` }] : [];
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    // No folder yet, a file among the folders, or one of someone else.
    if (codeOf(error) === undefined) throw error;
    return [];
  }
}

function isFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile();
}

/** A file without a header counts to the folder it lies in (R104). */
function isOf(sessionCwd: string, cwd: string): boolean {
  return sessionCwd === "" || resolve(sessionCwd) === resolve(cwd);
}
