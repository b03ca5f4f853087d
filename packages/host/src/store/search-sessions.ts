import { createReadStream } from "node:fs";
import { assertNever } from "../platform/assert-never.ts";
import { codeOf } from "../platform/thrown.ts";
import type { Entry } from "./entries.ts";
import { listSessions } from "./list-sessions.ts";
import { parseEntryAgain } from "./load-session.ts";
import type { SessionSummary } from "./peek-session.ts";

export interface SearchOptions {
  /** Only sessions of this working directory. */
  cwd?: string;
  /** Stops the search; what was found stays. */
  signal?: AbortSignal;
}

/** One entry that has the text. */
export interface SearchHit {
  session: SessionSummary;
  entryId: string;
  /** `user`, `assistant`, …; for other entries their type. */
  role: string;
  /** The text around the first place where it occurs. */
  snippet: string;
}

const CHUNK_BYTES = 256 * 1024;
const CONTEXT_CHARS = 60;
const LF = 10;

/**
 * Searches what was said in all sessions, the newest session first, regardless of case. Results come as they are
 * found; memory is bounded by the longest line, and the event loop runs between two chunks.
 */
export async function* searchSessions(
  sessionsDir: string,
  text: string,
  { cwd, signal }: SearchOptions = {},
): AsyncGenerator<SearchHit> {
  if (text === "") return;
  for (const session of listSessions(sessionsDir, cwd === undefined ? {} : { cwd })) {
    for await (const entry of entriesWith(session.path, { text, signal })) {
      const hit = hitIn(entry, text);
      if (hit) yield { session, entryId: entry.id, ...hit };
    }
    if (signal?.aborted) return;
  }
}

/** Entries whose line has the text somewhere: a look at the raw chunk spares the parsing of the others. */
async function* entriesWith(path: string, search: { text: string; signal: AbortSignal | undefined }) {
  const needle = JSON.stringify(search.text).slice(1, -1).toLowerCase();
  for await (const lines of wholeLines(path)) {
    if (search.signal?.aborted) return;
    if (!lines.toLowerCase().includes(needle)) continue;
    for (const line of lines.split("\n")) {
      const entry = line.toLowerCase().includes(needle) ? parseEntryAgain(line) : undefined;
      if (entry) yield entry;
    }
  }
}

/** The file in pieces that end with a line. A file that goes away meanwhile ends there. */
async function* wholeLines(path: string): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES })) {
      const bytes: Buffer = chunk;
      const end = bytes.lastIndexOf(LF) + 1;
      if (end > 0) yield Buffer.concat([...rest, bytes.subarray(0, end)]).toString();
      if (end > 0) rest = [];
      rest.push(bytes.subarray(end));
    }
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
  }
  yield Buffer.concat(rest).toString();
}

function hitIn(entry: Entry, text: string): Pick<SearchHit, "role" | "snippet"> | undefined {
  const spoken = spokenText(entry);
  const at = spoken.toLowerCase().indexOf(text.toLowerCase());
  if (at < 0) return undefined;
  const from = Math.max(0, at - CONTEXT_CHARS);
  const snippet = spoken
    .slice(from, at + text.length + CONTEXT_CHARS)
    .replace(/\p{Surrogate}/gu, "")
    .replace(/\s+/g, " ");
  return { role: entry.type === "message" ? entry.message.role : entry.type, snippet: snippet.trim() };
}

function spokenText(entry: Entry): string {
  switch (entry.type) {
    case "message":
      return entry.message.role === "system" ? "" : textIn(entry.message);
    case "compaction":
    case "branch_summary":
      return entry.summary;
    case "custom_message":
      return textIn(entry);
    case "session_info":
      return entry.name;
    case "label":
      return entry.label ?? "";
    case "model_change":
    case "thinking_level_change":
    case "usage":
    case "context_edit":
    case "custom":
      return "";
    default:
      return assertNever(entry, "");
  }
}

function textIn(holder: object): string {
  if ("command" in holder && "output" in holder) return `${String(holder.command)}\n${String(holder.output)}`;
  const content: unknown = "content" in holder ? holder.content : "";
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((block: unknown) => blockText(block)).join("\n");
}

function blockText(block: unknown): string {
  if (typeof block !== "object" || block === null) return "";
  if ("text" in block && typeof block.text === "string") return block.text;
  return "arguments" in block ? JSON.stringify(block.arguments) : "";
}
