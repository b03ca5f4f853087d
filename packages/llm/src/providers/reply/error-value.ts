import { readErrorBody } from "../../errors/error-body.ts";
import { isRecord } from "../../stream/json.ts";

type Json = Record<string, unknown>;

const TEXT_CHARS = 8192;
const MAX_ENTRIES = 50;
const MAX_DEPTH = 8;
const CODE_FIELDS = ["code", "status", "status_code", "statusCode", "error_code", "errorCode", "errcode"];

/**
 * What of an event is an error, in the shapes of the vendors (R205); undefined for an event that is not one.
 * @param known fields that only the API's own events have: an event with one of them is an error only when it says so
 */
export function errorIn(value: Json, known: readonly string[]): unknown {
  if (isFilled(value.error) || value.type === "error" || value.object === "error") return value;
  // MiniMax puts a status beside each chunk; 0 is not an error.
  if (isRecord(value.base_resp) && value.base_resp.status_code) {
    return { code: value.base_resp.status_code, message: value.base_resp.status_msg };
  }
  if (known.some((field) => value[field] !== undefined && value[field] !== null)) return undefined;
  return speaksOfError(value) ? value : undefined;
}

/** A text of an error, under a type that is one or none, or beside a code. */
function speaksOfError(value: Json): boolean {
  const { type } = value;
  const named = typeof type !== "string" || type.slice(-5).toLowerCase() === "error";
  const coded = CODE_FIELDS.some((field) => typeof value[field] === "string" || typeof value[field] === "number");
  if (!named && !coded) return false;
  return readErrorBody(clipErrorValue(value)).message !== "";
}

function isFilled(error: unknown): boolean {
  return isRecord(error) ? Object.keys(error).length > 0 : Boolean(error);
}

/** An error value with its texts, lists and depth cut, before any pattern looks at them (R304). */
export function clipErrorValue(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return value.length > TEXT_CHARS ? value.slice(0, TEXT_CHARS) : value;
  if (typeof value !== "object" || value === null) return value;
  if (depth === MAX_DEPTH) return undefined;
  if (Array.isArray(value)) return value.slice(0, MAX_ENTRIES).map((entry) => clipErrorValue(entry, depth + 1));
  const entries = Object.entries(value).slice(0, MAX_ENTRIES);
  return Object.fromEntries(entries.map(([name, entry]) => [name, clipErrorValue(entry, depth + 1)]));
}
