import { statSync } from "node:fs";
import { resolve } from "node:path";
import {
  ConfigError,
  createMemoryStore,
  createSessionStore,
  expandTilde,
  findSession,
  forkSession,
  kindOf,
  latestSession,
  openSessionStore,
  type SessionStore,
} from "@tau/host";
import type { CliArgs } from "./arguments/args.ts";
import { keepYoungGenerationSmall } from "./process/young-generation.ts";

export interface StorePlace {
  /** Working directory of this process; a session that is gone on with keeps its own. */
  readonly cwd: string;
  readonly sessionsDir: string;
}

/**
 * Where sessions are kept: `--session-dir`, the setting, or the home. Relative to the working directory. Throws
 * ConfigError when something else is in its place: no session could ever be saved there.
 */
export function sessionsDirectory(
  args: CliArgs,
  { setting, home, cwd, userHome }: { setting: string | undefined; home: string; cwd: string; userHome: string },
): string {
  const option = args.texts["session-dir"]?.[0];
  const given = option ?? setting;
  const path = given === undefined ? home : resolve(cwd, expandTilde(given, userHome));
  const kind = kindOf(path);
  if (kind === undefined || kind === "folder") return path;
  const name = option !== undefined ? `--session-dir ${option}` : given === undefined ? path : `sessionDir "${given}"`;
  throw new ConfigError(`${name}: this is no folder, so no session can be kept there; name a folder`);
}

/** The longest id of a session, in characters: it becomes a part of a file name. */
const MAX_ID = 128;

/** Opens or makes the session that the options ask for. Throws ConfigError, or the store's errors, with a remedy. */
export function openStore(args: CliArgs, place: StorePlace): SessionStore {
  const { cwd, sessionsDir } = place;
  const id = args.texts["session-id"]?.[0];
  const fork = args.texts.fork?.[0];
  const session = args.texts.session?.[0];
  if (id !== undefined && id.length > MAX_ID)
    throw new ConfigError(`--session-id of ${id.length} characters is too long; give one of at most ${MAX_ID}`);
  if (fork !== undefined && id !== undefined) return forkAs(id, { from: sessionPath(fork, place), place });
  if (fork !== undefined) return forkSession({ from: sessionPath(fork, place), sessionsDir, cwd });
  if (session !== undefined) return reopen(sessionPath(session, place));
  if (id !== undefined) return openById(id, place, args.flags.has("no-session"));
  const latest = args.flags.has("continue") ? latestSession(sessionsDir, cwd) : undefined;
  if (latest !== undefined) return reopen(latest);
  return args.flags.has("no-session") ? createMemoryStore({ cwd }) : createSessionStore({ sessionsDir, cwd });
}

/** What to tell when `--continue` found nothing and a new session began; the model knows nothing of what was said. */
export function nothingContinued(args: CliArgs, { leafId, header }: SessionStore): string[] {
  if (!args.flags.has("continue") || leafId !== null) return [];
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
  const taken = () => new ConfigError(`there is a session "${id}" already; give the fork another --session-id`);
  if (pathOfId(id, place) !== undefined) throw taken();
  const store = forkSession({ ...place, from, id, claim: true });
  if (pathOfId(id, place) === undefined) return store;
  store.close();
  throw taken();
}

function pathOfId(id: string, { sessionsDir, cwd }: StorePlace): string | undefined {
  const found = findSession(sessionsDir, id, cwd);
  // A beginning of another id is no match here: the id is to be exactly this one.
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
    const few = found.paths.slice(0, 4).join(", ");
    const whole = found.paths.every((path) => path.endsWith(`_${query}.jsonl`));
    const remedy = whole ? "give the path of one of them" : "give more of the id, or the path of one of them";
    throw new ConfigError(`"${query}" fits ${found.paths.length} sessions; ${remedy}: ${few}`);
  }
  const path = resolve(cwd, query);
  // A session may have any name: opening it tells whether it is one.
  if (kindOf(path) === "file") return path;
  if (kindOf(path) === "folder") throw new ConfigError(`${path} is a folder, not a session; give the path of its file`);
  if (/[/\\]/.test(query)) throw new ConfigError(`there is no session file ${path}; give the path of one, or an id`);
  throw new ConfigError(`there is no session "${query}" in ${sessionsDir}; give the path of its file, or its id`);
}

/** The folder to work in: that of the session when it is still there. */
export function workingDirectory(store: SessionStore, cwd: string): string {
  const own = store.header.cwd;
  return own !== "" && own !== cwd && kindOf(own) === "folder" ? own : cwd;
}
