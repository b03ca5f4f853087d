import type { Entry } from "../store/entries.ts";
import { ownWords } from "../store/own-words.ts";
import { isJsonObject, type JsonObject } from "../store/parse-line.ts";

const PREVIEW_CHARS = 90;

/** A field of a file of unknown origin as text. */
export function asText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? asJson(value) : String(value);
}

// Indented, a value of depth n is as long as n squared.
const MAX_INDENTED_DEPTH = 40;

/** A value as JSON, indented where that helps; what is nested too deeply is named as such. */
export function asJson(value: unknown): string {
  try {
    return JSON.stringify(value, null, isDeeper(value, MAX_INDENTED_DEPTH) ? 0 : 2) ?? "";
  } catch (error) {
    // RangeError: the stack. TypeError: a cycle, which no file can hold but an open session can.
    if (error instanceof RangeError || error instanceof TypeError) return "(nested too deeply to be shown)";
    throw error;
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

/** A text on one line, without spaces around it. */
function lineOf(value: unknown): string {
  return asText(value).replace(/\s+/g, " ").trim();
}

const NAME_CHARS = 200;

/** A name from a file, for a heading or a list: on one line and of sensible length. */
export function nameOf(value: unknown): string {
  return shortLine(asText(value), NAME_CHARS);
}

/** Blocks of a content; a text is one block. */
export function blocksOf(content: unknown): JsonObject[] {
  if (!Array.isArray(content)) return [{ type: "text", text: asText(content) }];
  return content.filter(isJsonObject);
}

/** The beginning of a text on one line. */
export function shortLine(text: string, maxChars: number): string {
  // A multiple first, so that a huge text is not walked for its beginning.
  const line = lineOf(text.slice(0, maxChars * 4));
  if (line.length <= maxChars) return line;
  return `${line.slice(0, maxChars - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** Text blocks of a content, joined. */
export function textOf(content: unknown): string {
  const texts = blocksOf(content).flatMap((block) => (block.type === "text" ? [asText(block.text)] : []));
  return texts.join("\n");
}

/** The beginning of what an entry says, on one line; undefined for entries that say nothing by themselves. */
export function previewOf(entry: Entry): string | undefined {
  const text = spokenIn(entry);
  if (text === undefined) return undefined;
  const line = shortLine(text, PREVIEW_CHARS).replace(/\*\*|`|^#+ /g, "");
  // Through a buffer: a slice would keep the whole text alive.
  return Buffer.from(line).toString();
}

function spokenIn(entry: Entry): string | undefined {
  if (entry.type === "compaction" || entry.type === "branch_summary") return entry.summary;
  if (entry.type === "custom_message") return textOf(entry.content);
  if (entry.type !== "message") return undefined;
  const { message } = entry;
  switch (message.role) {
    case "user":
      return ownWords(textOf(message.content));
    case "custom":
      return textOf(message.content);
    case "assistant":
      return textOf(message.content) || callsOf(message.content) || asText(message.errorMessage);
    case "bashExecution":
      return `! ${asText(message.command)}`;
    default:
      return undefined;
  }
}

function callsOf(content: readonly { type: string; name?: unknown }[]): string {
  return content.flatMap((block) => (block.type === "toolCall" ? [nameOf(block.name)] : [])).join(", ");
}
