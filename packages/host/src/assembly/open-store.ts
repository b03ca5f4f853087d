import { statSync } from "node:fs";
import { resolve } from "node:path";
import { type Environment, expandTilde } from "../platform/environment.ts";
import { kindOf } from "../platform/home.ts";
import { keepYoungGenerationSmall } from "../platform/young-generation.ts";
import { configError } from "../settings/config-error.ts";
import { forkSession } from "../store/fork-session.ts";
import { findSession, latestSession } from "../store/list-sessions.ts";
import { createMemoryStore, createSessionStore, openSessionStore } from "../store/open-session.ts";
import { peekSession } from "../store/peek-session.ts";
import type { SessionStore } from "../store/session-store.ts";
import type { Configuration } from "./configuration.ts";
import type { SessionRequest } from "./input.ts";

export interface StorePlace {
  /** Working directory of this process; a session that is continued keeps its own. */
  readonly cwd: string;
  readonly sessionsDir: string;
}

/**
 * Where sessions are kept: the folder that is asked for, the setting, or the home. Relative to the working directory.
 * Throws ConfigError when something else is in its place: no session could ever be saved there.
 */
export function sessionsDirectory(
  { folder }: SessionRequest,
  { settings, paths }: Configuration,
  { cwd, userHome }: Environment,
): string {
  const given = folder ?? settings.sessionDir;
  const path = given === undefined ? paths.sessions : resolve(cwd, expandTilde(given, userHome));
  const kind = kindOf(path);
  if (kind === undefined || kind === "folder") return path;
  const setting = given === undefined ? path : `sessionDir "${given}"`;
  throw configError("sessions_not_folder", { name: folder === undefined ? setting : `--session-dir ${folder}` });
}

/** The longest id of a session, in characters: it becomes a part of a file name. */
const MAX_ID = 128;

/** Opens or makes the session that is asked for. Throws ConfigError, or the store's errors, with a remedy. */
export function openStore(request: SessionRequest, place: StorePlace): SessionStore {
  const { cwd, sessionsDir } = place;
  const { id, fork, open, latest = false, unsaved = false } = request;
  if (id !== undefined && id.length > MAX_ID)
    throw configError("session_id_too_long", { length: id.length, most: MAX_ID });
  if (fork !== undefined && id !== undefined) return forkAs(id, { from: sessionPath(fork, place), place });
  if (fork !== undefined) return forkSession({ from: sessionPath(fork, place), sessionsDir, cwd });
  if (open !== undefined) return reopen(sessionPath(open, place));
  if (id !== undefined) return openById(id, place, unsaved);
  const path = latest ? latestSession(sessionsDir, cwd) : undefined;
  if (path !== undefined) return reopen(path);
  return unsaved ? createMemoryStore({ cwd }) : createSessionStore({ sessionsDir, cwd });
}

/** What to say when there was no latest session and a new one began; the model knows nothing of what was said. */
export function nothingContinued({ latest }: SessionRequest, { leafId, header }: SessionStore): string[] {
  if (!latest || leafId !== null) return [];
  return [`there is no session of ${header.cwd} to continue, so this is a new one; --session <id> opens another one`];
}

function openById(id: string, place: StorePlace, inMemory: boolean): SessionStore {
  if (inMemory) return createMemoryStore({ cwd: place.cwd, id });
  const path = pathOfId(id, place);
  if (path !== undefined) return reopen(path);
  const store = createSessionStore({ ...place, id, claim: true });
  // Another process may have made it between the look and the claim.
  const made = pathOfId(id, place);
  if (made === undefined) return store;
  store.close();
  return reopen(made);
}

function forkAs(id: string, { from, place }: { from: string; place: StorePlace }): SessionStore {
  const taken = () => configError("session_id_taken", { id });
  if (pathOfId(id, place) !== undefined) throw taken();
  const store = forkSession({ ...place, from, id, claim: true });
  if (pathOfId(id, place) === undefined) return store;
  store.close();
  throw taken();
}

function pathOfId(id: string, { sessionsDir, cwd }: StorePlace): string | undefined {
  const found = findSession(sessionsDir, id, cwd);
  // A beginning of another id does not match here: the id must be exactly this one.
  const paths = found.status === "found" ? [found.path] : found.status === "ambiguous" ? found.paths : [];
  return paths.find((each) => each.endsWith(`_${id}.jsonl`));
}

const LONG_SESSION_BYTES = 1024 * 1024;

/** Opens a saved session. */
function reopen(path: string): SessionStore {
  const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (bytes > LONG_SESSION_BYTES) keepYoungGenerationSmall();
  return openSessionStore(path);
}

/** The file of the session that a user means by a path, an id or the beginning of one. Throws ConfigError. */
export function sessionPath(query: string, { sessionsDir, cwd }: StorePlace): string {
  const found = findSession(sessionsDir, query, cwd);
  if (found.status === "found") return found.path;
  if (found.status === "ambiguous") {
    const sameId = found.paths.every((path) => path.endsWith(`_${query}.jsonl`));
    throw configError("session_ambiguous", { query, paths: found.paths, sameId });
  }
  const path = resolve(cwd, query);
  // A session may have any name: opening it shows whether it is one.
  if (kindOf(path) === "file") return path;
  if (kindOf(path) === "folder") throw configError("session_is_folder", { path });
  if (/[/\\]/.test(query)) throw configError("session_file_missing", { path });
  throw configError("session_unknown", { query, sessionsDir });
}

/** What to say of the folder that a session works in, where it is not the one that the user is in (R263). */
export function folderNotices(
  { fork }: SessionRequest,
  { header }: SessionStore,
  { cwd, works }: { cwd: string; works: string },
): string[] {
  if (works !== cwd) return [`the session works in its own folder ${works}, not in ${cwd}`];
  if (header.cwd !== "" && header.cwd !== cwd)
    return [`the folder of the session, ${header.cwd}, does not exist any more; it works in ${cwd}`];
  const { parentSession } = header;
  const from = fork === undefined || parentSession === undefined ? undefined : peekSession(parentSession)?.cwd;
  if (from === undefined || from === "" || from === cwd) return [];
  return [`the copy works in ${cwd}; the session that it was made from works in ${from}`];
}

/** The folder to work in: that of the session when it is still there. */
export function workingDirectory(store: SessionStore, cwd: string): string {
  const own = store.header.cwd;
  return own !== "" && own !== cwd && kindOf(own) === "folder" ? own : cwd;
}
