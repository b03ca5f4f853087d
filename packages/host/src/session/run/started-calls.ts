import type { Projection, SessionStore } from "../../store/session-store.ts";
import { unansweredCalls } from "../../store/tau-records.ts";

/**
 * Ids of the calls at the end of a transcript that had started when the session was broken off. The loop closes all
 * calls that are open, and says of each whether it may have run in part (laws C9, F10).
 */
export function startedCalls(store: SessionStore, projection: Projection): Set<string> {
  const open = unansweredCalls(store, projection).filter(({ started }) => started);
  return new Set(open.map(({ call }) => call.id));
}
