import { createHash } from "node:crypto";

/** How many bytes of a file have to be read to see whose export it is. */
export const MARK_BYTES = 256;

/** Stands at the head of an export and says of which session it is, in a form that no session's id can break out of. */
export function exportMark(sessionId: string): string {
  return `<!-- tau export ${createHash("sha256").update(sessionId).digest("hex").slice(0, 32)} -->`;
}
