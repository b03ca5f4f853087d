/** True for a JSON object: neither null nor an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value of a JSON text, or undefined when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** JSON text of a value; undefined for one that is nested too deep to be written, or that JSON does not have. */
export function writeJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

// One escape of a JSON text as a unit, so that an escaped backslash before "ud800" is not taken for the start of one.
// JSON.stringify writes surrogate pairs as they are: what it escapes as \udXXX is always a lone one.
const ESCAPE = /\\(?:(u[dD][89a-fA-F][0-9a-fA-F]{2})|[\s\S])/g;

/**
 * JSON text of a value in the form a strict server takes (R039): a lone surrogate, which JSON.stringify would write
 * as an escape that many parsers refuse, becomes U+FFFD, in keys as well. Everything else is JSON.stringify.
 */
export function encodeJson(value: unknown): string {
  const text = JSON.stringify(value) ?? "null";
  if (!text.includes("\\ud")) return text;
  return text.replace(ESCAPE, (unit: string, lone: string | undefined) => (lone ? "\ufffd" : unit));
}
