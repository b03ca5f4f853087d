import { isJsonObject, type JsonObject } from "./parse-line.ts";

// JSON.stringify writes half of a surrogate pair as an escape, which strict readers refuse.
const LONE_SURROGATE_ESCAPE = /\\ud[89a-f]/;
const LONE_SURROGATE = /\p{Surrogate}/gu;
// Legal inside JSON, but line ends to many a reader (R102, R174).
const SEPARATORS = /[\u0085\u2028\u2029]/g;
const HAS_SEPARATOR = /[\u0085\u2028\u2029]/;

/** What was written for a value. `changed`: the line says something else than the value in memory does. */
export interface SerializedLine {
  /** One line of JSON without its LF. */
  text: string;
  changed: boolean;
}

/**
 * One line of JSON: well-formed Unicode, no line separators in it (law F1). Never throws: what JSON cannot hold
 * (cycles, big integers, a throwing toJSON) is replaced by a text that says so.
 */
export function serializeLine(value: object): SerializedLine {
  const plain = stringify(value);
  const text = plain ?? JSON.stringify(sanitize(value, []));
  const lone = LONE_SURROGATE_ESCAPE.test(text);
  const formed = lone ? JSON.stringify(wellFormed(JSON.parse(text))) : text;
  const line = HAS_SEPARATOR.test(formed) ? formed.replace(SEPARATORS, escapeUnit) : formed;
  return { text: line, changed: plain === undefined || lone };
}

function stringify(value: object): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

function escapeUnit(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.replace(LONE_SURROGATE, "\ufffd");
  if (Array.isArray(value)) return value.map(wellFormed);
  if (!isJsonObject(value)) return value;
  return mapObject(value, wellFormed);
}

function mapObject(value: JsonObject, map: (member: unknown) => unknown): JsonObject {
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key.replace(LONE_SURROGATE, "\ufffd"), map(member)]),
  );
}

const MAX_DEPTH = 100;

function sanitize(value: unknown, above: readonly unknown[]): unknown {
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null) return value;
  if (above.includes(value)) return "[circular]";
  if (above.length > MAX_DEPTH) return "[too deep]";
  const path = [...above, value];
  if (Array.isArray(value)) return value.map((member: unknown) => sanitize(member, path));
  if (stringify(value) !== undefined) return value;
  return sanitizeObject(value, path);
}

function sanitizeObject(value: object, path: readonly unknown[]): JsonObject {
  const result: JsonObject = {};
  for (const key of Object.keys(value)) {
    if (key !== "toJSON") result[key] = sanitize(readMember(value, key), path);
  }
  return result;
}

function readMember(value: object, key: string): unknown {
  try {
    return Reflect.get(value, key);
  } catch (error) {
    return `[unreadable: ${String(error)}]`;
  }
}
