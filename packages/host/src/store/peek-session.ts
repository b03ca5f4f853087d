import { closeSync, fstatSync } from "node:fs";
import { basename } from "node:path";
import type { AgentMessage } from "@tau/agent";
import { codeOf } from "../platform/thrown.ts";
import type { Entry, SessionHeader } from "./entries.ts";
import { toEntry, toHeader } from "./normalize-entry.ts";
import { openSessionFile } from "./open-session-file.ts";
import { ownWords } from "./own-words.ts";
import { parseLine } from "./parse-line.ts";
import { idOfFileName } from "./paths.ts";
import { readBytes } from "./read-bytes.ts";
import { writtenAt } from "./written-at.ts";

/** What a list shows of a session, read from the head and the tail of its file. */
export interface SessionSummary {
  path: string;
  id: string;
  /** Empty when the file has lost its header. */
  cwd: string;
  /** ISO 8601. */
  created: string;
  /** When it was last written to, by its entries; milliseconds since 1970. */
  modified: number;
  /** Bytes. */
  size: number;
  parentSession?: string;
  /** Display name, the newest session_info. */
  name?: string;
  /** Beginning of the first user message. */
  firstMessage?: string;
  /** Beginning of the last user or assistant text. */
  lastMessage?: string;
}

/** Bytes that may still be spent on names in the middle of large files; shared by the files of one list. */
export interface NameBudget {
  bytes: number;
}

const FIRST_HEAD = 16 * 1024;
const MAX_HEAD = 512 * 1024;
const TAIL = 16 * 1024;
const SCAN_CHUNK = 1024 * 1024;
const PREVIEW_CHARS = 200;
const LF = 10;
const NAME_NEEDLE = Buffer.from('"type":"session_info"');
// A first message with an image may be longer than the head that is read; its text stands before the image.
const CUT_USER_TEXT = /"role":"user","content":(?:\[\{"type":"text","text":)?("(?:[^"\\]|\\.)*)/;

/** The summary of a session file; undefined when it cannot be read or has nothing of a session in it (R104, R169). */
export function peekSession(path: string, budget: NameBudget = { bytes: 0 }): SessionSummary | undefined {
  let fd: number;
  try {
    fd = openSessionFile(path);
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return undefined;
  }
  try {
    return summarize({ fd, path, budget });
  } finally {
    closeSync(fd);
  }
}

function summarize({ fd, path, budget }: { fd: number; path: string; budget: NameBudget }): SessionSummary | undefined {
  const { size } = fstatSync(fd);
  const head = readHead(fd, size);
  if (!head.header && head.entries.length === 0) return undefined;
  const tailStart = Math.max(head.end, size - TAIL);
  const tail = size > head.end ? entriesOf(readText(fd, tailStart, size), tailStart > head.end) : [];
  const name =
    newestName(tail) ?? scannedName({ fd, from: head.end, to: tailStart, budget }) ?? newestName(head.entries);
  const lastMessage = lastText(tail) ?? lastText(head.entries);
  const { id, cwd, timestamp, parentSession } = head.header ?? rescued(path, head.entries);
  return {
    path,
    id,
    cwd,
    created: timestamp,
    modified: writtenAt(fd),
    size,
    ...(parentSession !== undefined && { parentSession }),
    ...(name && { name }),
    ...(head.firstMessage !== undefined && { firstMessage: head.firstMessage }),
    ...(lastMessage !== undefined && { lastMessage }),
  };
}

function rescued(path: string, entries: readonly Entry[]): SessionHeader {
  const id = idOfFileName(basename(path)) ?? basename(path).replace(/\.jsonl$/, "");
  return { type: "session", version: 3, id, timestamp: entries[0]?.timestamp ?? "", cwd: "" };
}

interface Head {
  header: SessionHeader | undefined;
  entries: Entry[];
  firstMessage: string | undefined;
  /** Bytes that were looked at. */
  end: number;
}

/** Reads on until the first user message, which stands behind the system prompt and the tools. */
function readHead(fd: number, size: number): Head {
  for (let end = Math.min(FIRST_HEAD, size); ; end = Math.min(end * 4, size)) {
    const text = readText(fd, 0, end);
    const whole = end === size;
    const complete = whole ? text : text.slice(0, text.lastIndexOf("\n") + 1);
    const items = complete.split("\n").flatMap((line) => parseLine(line).items);
    const values = items.flatMap((item) => ("value" in item ? [item.value] : []));
    const entries = values.map((value) => toEntry(value)).filter((entry) => entry !== undefined);
    const firstMessage = firstUserText(entries) ?? cutUserText(text.slice(complete.length));
    if (firstMessage === undefined && !whole && end < MAX_HEAD) continue;
    const header = values.map(toHeader).find((value) => value !== undefined);
    return { header, entries, firstMessage, end: whole ? end : Buffer.byteLength(complete) };
  }
}

/** Entries of a piece of a file; its first line is cut off when it begins anywhere. */
function entriesOf(text: string, cut: boolean): Entry[] {
  const from = cut ? text.indexOf("\n") + 1 : 0;
  const items = text
    .slice(from)
    .split("\n")
    .flatMap((line) => parseLine(line).items);
  return items.flatMap((item) => ("value" in item ? (toEntry(item.value) ?? []) : []));
}

function newestName(entries: readonly Entry[]): string | undefined {
  const info = entries.findLast((entry) => entry.type === "session_info");
  return info?.type === "session_info" && typeof info.name === "string" ? info.name.trim() : undefined;
}

/** Looks for the newest name between head and tail, backwards, while the budget lasts; parses only lines that have one. */
function scannedName({ fd, from, to, budget }: { fd: number; from: number; to: number; budget: NameBudget }) {
  if (to - from > budget.bytes) return undefined;
  budget.bytes -= Math.max(0, to - from);
  for (let end = to; end > from; end -= SCAN_CHUNK) {
    const start = Math.max(from, end - SCAN_CHUNK);
    // One needle longer, since a chunk may cut it in two.
    const bytes = readBytes(fd, start, end + NAME_NEEDLE.length);
    for (
      let at = bytes.lastIndexOf(NAME_NEEDLE);
      at >= 0;
      at = at === 0 ? -1 : bytes.lastIndexOf(NAME_NEEDLE, at - 1)
    ) {
      const name = newestName(entriesOf(lineAround(fd, start + at), false));
      if (name !== undefined) return name;
    }
  }
  return undefined;
}

// A name's line is short; what is longer has the needle inside of something else.
const NAME_LINE_BYTES = 8 * 1024;

function lineAround(fd: number, at: number): string {
  const from = Math.max(0, at - NAME_LINE_BYTES);
  const bytes = readBytes(fd, from, at + NAME_LINE_BYTES);
  const end = bytes.indexOf(LF, at - from);
  const start = bytes.lastIndexOf(LF, at - from) + 1;
  return bytes.toString("utf8", start, end < 0 ? bytes.length : end);
}

function firstUserText(entries: readonly Entry[]): string | undefined {
  for (const entry of entries) {
    const text = entry.type === "message" && entry.message.role === "user" ? textOf(entry.message) : undefined;
    if (text) return preview(text);
  }
  return undefined;
}

function lastText(entries: readonly Entry[]): string | undefined {
  for (const entry of entries.toReversed()) {
    const spoken = entry.type === "message" && (entry.message.role === "user" || entry.message.role === "assistant");
    const text = spoken ? textOf(entry.message) : undefined;
    if (text) return preview(text);
  }
  return undefined;
}

function textOf(message: AgentMessage): string | undefined {
  if (!("content" in message)) return undefined;
  if (typeof message.content === "string") return message.content;
  const texts = message.content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  return texts.join("\n");
}

function cutUserText(line: string): string | undefined {
  const raw = CUT_USER_TEXT.exec(line)?.[1];
  if (raw === undefined) return undefined;
  const [item] = parseLine(`{"text":${raw}"}`).items;
  const text = item && "value" in item ? item.value.text : undefined;
  return typeof text === "string" ? preview(text) : undefined;
}

function preview(text: string): string {
  const line = ownWords(text).trim().replace(/\s+/g, " ");
  return line.length <= PREVIEW_CHARS ? line : `${line.slice(0, PREVIEW_CHARS - 1).replace(/\p{Surrogate}$/u, "")}…`;
}

function readText(fd: number, from: number, to: number): string {
  return readBytes(fd, from, to).toString("utf8");
}
