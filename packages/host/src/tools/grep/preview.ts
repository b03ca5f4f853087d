import { characterEnd, characterStart } from "../../platform/terminal-bytes.ts";
import { cleanTerminalText } from "../../platform/terminal-text.ts";
import type { ByteRange } from "./rg-event.ts";

/** Longest part of a line that is shown, in bytes, so that it has no more characters either (R096). */
const MAX_BYTES = 480;

/** What is shown before the hit, in a line that is too long. */
const LEAD_BYTES = 160;

/** A line as text: whole when it is short, else the part around its first hit, cut at borders of characters. */
export function preview(line: Buffer, hits: readonly ByteRange[]): string {
  if (line.length <= MAX_BYTES) return clean(line);
  const [first = { start: 0, end: 0 }] = hits;
  const lead = Math.min(Math.max(0, first.start - LEAD_BYTES), line.length - MAX_BYTES);
  const start = characterStart(line, lead);
  const end = characterEnd(line, lead + MAX_BYTES);
  const text = clean(line.subarray(start, end));
  const unseen = hits.filter((hit) => hit.start >= end).length;
  const more = unseen === 0 ? "" : ` [${unseen} more in this line]`;
  return `${start > 0 ? "…" : ""}${text}${end < line.length ? "…" : ""}${more}`;
}

function clean(bytes: Buffer): string {
  return cleanTerminalText(bytes.toString("utf8"), { carriageReturn: "drop" });
}
