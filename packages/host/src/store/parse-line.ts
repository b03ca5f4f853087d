/** A JSON object as it came from a file. */
export type JsonObject = Record<string, unknown>;

/** What a line gave: entries, and the identity of those that were damaged, in order. */
type LineItem = { value: JsonObject } | { lost: LostHead };

/** Identity of an entry whose body cannot be read; its children are linked to its parent. */
export interface LostHead {
  id: string;
  parentId: string | null;
}

/** `nul`: zero bytes, as a power loss leaves; `glued`: more than one piece in the line; `bad`: nothing readable. */
type LineDamage = "nul" | "glued" | "bad";

export interface ParsedLine {
  items: LineItem[];
  damage?: LineDamage;
}

// tau and pi write `type` first, then id and parentId.
const ENTRY_START = '{"type":"';
const HEAD = /^\{"type":"[^"\\]*","id":"([^"\\]+)","parentId":(?:null|"([^"\\]+)")/;
const HEAD_CHARS = 400;
// Each failed try at a start runs to the end of the line; without a bound a hostile line costs the square of its length.
const MAX_FAILED_STARTS = 32;

/** Parses one line of a session file; a line that is not a single JSON object is searched for entries (law F9). */
export function parseLine(text: string): ParsedLine {
  const value = parseObject(text);
  if (value) return { items: [{ value }] };
  if (text.trim() === "") return { items: [] };
  if (!text.includes("\0")) return salvage(text);
  const rest = text.replaceAll("\0", "");
  if (rest.trim() === "") return { items: [], damage: "nul" };
  const clean = parseObject(rest);
  return { items: clean ? [{ value: clean }] : salvage(rest).items, damage: "nul" };
}

/** A JSON object, or undefined for any other text. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Finds whole entries in a damaged line: glued ones, and ones behind the rest of a torn one. */
function salvage(text: string): ParsedLine {
  const items: LineItem[] = [];
  let found = 0;
  let failed = 0;
  let at = text.indexOf(ENTRY_START);
  while (at >= 0 && failed < MAX_FAILED_STARTS) {
    const end = objectEnd(text, at);
    const value = end > 0 ? parseObject(text.slice(at, end)) : undefined;
    if (value && isEntryShaped(value)) {
      items.push({ value });
      found++;
      at = text.indexOf(ENTRY_START, end);
      continue;
    }
    if (end < 0) failed++;
    const lost = lostHead(text.slice(at, at + HEAD_CHARS));
    if (lost) items.push({ lost });
    at = text.indexOf(ENTRY_START, at + 1);
  }
  return { items, damage: found > 0 ? "glued" : "bad" };
}

/** Content blocks have a type as well; only entries and the header carry a timestamp text. */
function isEntryShaped(value: JsonObject): boolean {
  return typeof value.type === "string" && typeof value.timestamp === "string";
}

function lostHead(head: string): LostHead | undefined {
  const match = HEAD.exec(head);
  if (!match?.[1]) return undefined;
  return { id: match[1], parentId: match[2] ?? null };
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** Index after the brace that closes the object at `start`; -1 when it is not closed. */
function objectEnd(text: string, start: number): number {
  let depth = 0;
  let inString = false;
  for (let i = start; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (inString) {
      if (code === BACKSLASH) i++;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) inString = true;
    else if (code === OPEN) depth++;
    else if (code === CLOSE && --depth === 0) return i + 1;
  }
  return -1;
}
