import type { ToolCall } from "../protocol/message.ts";
import { isRecord } from "./json.ts";

const RAW_CAP_BYTES = 4096;
// JSON.stringify is recursive: arguments nested deeper than this could not be sent back with the history.
const MAX_DEPTH = 256;

/**
 * The arguments of a finished tool call from their text (C7, R024, R025): nothing, spaces and `null` mean no arguments;
 * an object that a server encoded twice is decoded once; a text that is not a JSON object is kept, at most 4 kB of it, in
 * `invalidArguments`, and `arguments` is empty. Nothing is repaired: half a command must not run.
 */
export function readArguments(raw: string): Pick<ToolCall, "arguments" | "invalidArguments"> {
  const text = raw.trim();
  if (text === "" || text === "null") return { arguments: {} };
  try {
    const value = decodeTwice(JSON.parse(text));
    if (!isRecord(value)) return refusedArguments(raw, `expected a JSON object, got ${kindOf(value)}`);
    if (nestedTooDeep(value)) return refusedArguments(raw, `nested deeper than ${MAX_DEPTH} levels`);
    return { arguments: value };
  } catch (error) {
    return refusedArguments(raw, error instanceof Error ? error.message : String(error));
  }
}

function decodeTwice(value: unknown): unknown {
  if (typeof value !== "string" || !value.trimStart().startsWith("{")) return value;
  return JSON.parse(value);
}

/** The arguments of a call that must fail, and why (C7). */
export function refusedArguments(raw: string, error: string): Pick<ToolCall, "arguments" | "invalidArguments"> {
  return { arguments: {}, invalidArguments: { raw: capBytes(raw, RAW_CAP_BYTES), error } };
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}

/** True for arguments, or other data of a file, that could not be sent with the history: writing JSON is recursive. */
export function nestedTooDeep(value: unknown): boolean {
  return deeperThan(value, MAX_DEPTH);
}

function deeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const child of Object.values(value)) if (deeperThan(child, levels - 1)) return true;
  return false;
}

/** The start of a text, at most `bytes` long in UTF-8, without a broken character at its end. */
function capBytes(text: string, bytes: number): string {
  if (text.length <= bytes / 3) return text;
  const start = Buffer.from(text.slice(0, bytes));
  if (start.length <= bytes) return text.slice(0, bytes);
  // The last character may be cut; its first byte is the one that is not a continuation byte.
  let end = bytes;
  while (end > 0 && ((start[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return start.toString("utf8", 0, end);
}
