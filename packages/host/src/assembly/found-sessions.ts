import { closeSync } from "node:fs";
import { foldStats, NO_STATS } from "../session/usage/stats.ts";
import { listSessions } from "../store/list-sessions.ts";
import { parseEntryAgain } from "../store/load-session.ts";
import { openSessionFile } from "../store/open-session-file.ts";
import type { SessionSummary } from "../store/peek-session.ts";
import { readLines } from "../store/read-lines.ts";
import { searchSessions } from "../store/search-sessions.ts";

/** A session as a list shows it. */
export interface FoundSession extends SessionSummary {
  /** The shortest end of the id that no other session has; the whole id where somebody chose it. */
  readonly shortId: string;
}

/** Characters of a short id: fewer would soon not be unique any more. */
const SHORTEST_ID = 6;

/**
 * The saved sessions that fit a search, the newest first; all for an empty one. A session fits when its id, folder, name
 * or first message has the text, or anything that was said in it.
 */
export async function foundSessions(sessionsDir: string, search: string): Promise<FoundSession[]> {
  const all = listSessions(sessionsDir);
  const shortIds = shortIdsOf(all.map(({ id }) => id));
  const listed = all.map((session) => ({ ...session, shortId: shortIds.get(session.id) ?? session.id }));
  if (search === "") return listed;
  const needle = search.toLowerCase();
  const fits = new Set(listed.filter((session) => describes(session, needle)).map(({ path }) => path));
  for await (const { session } of searchSessions(sessionsDir, search)) fits.add(session.path);
  return listed.filter(({ path }) => fits.has(path));
}

function describes({ id, cwd, name = "", firstMessage = "" }: SessionSummary, needle: string): boolean {
  return [id, cwd, name, firstMessage].some((text) => text.toLowerCase().includes(needle));
}

/** The end of an id, for people. An id that somebody chose ("nightly") has no such end and stays whole. */
export function shortId(id: string, length: number): string {
  const end = id.slice(-length);
  return /^[0-9a-f]+$/.test(end) ? end : id;
}

/** The shortest unique end of each id. Linear in the length of the ids: each length is counted once. */
function shortIdsOf(ids: readonly string[]): Map<string, string> {
  const short = new Map<string, string>();
  let open = [...new Set(ids)];
  for (let length = SHORTEST_ID; open.length > 0; length++) {
    const count = new Map<string, number>();
    for (const id of ids) count.set(id.slice(-length), (count.get(id.slice(-length)) ?? 0) + 1);
    const isUnique = (id: string) => count.get(id.slice(-length)) === 1 || shortId(id, length) === id;
    for (const id of open) if (isUnique(id)) short.set(id, shortId(id, length));
    open = open.filter((id) => !isUnique(id));
  }
  return short;
}

/** What a session has cost, in US dollars, all branches and failed attempts included. Reads the whole file. */
export function sessionCost(path: string): number {
  let stats = NO_STATS;
  const fd = openSessionFile(path);
  try {
    readLines({
      fd,
      onLine(line) {
        const entry = line.includes('"usage"') ? parseEntryAgain(line) : undefined;
        if (entry) stats = foldStats(stats, entry);
      },
      onOversized: () => undefined,
    });
  } finally {
    closeSync(fd);
  }
  return stats.session.cost;
}
