export type Json = Record<string, unknown>;

export const isRecord = (value: unknown): value is Json => kindOf(value) === "object";
export const kindOf = (value: unknown) => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value);
export const parseJson = (text: string): unknown => attempt(() => JSON.parse(text));

export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

export function errorText(error: unknown): string {
  if (error instanceof Error) return error.message || error.name;
  return typeof error === "string" ? error : (attempt(() => JSON.stringify(error)) ?? typeof error);
}

/**
 * A deep copy in the sense of JSON (`structuredClone` is several times slower and fails on functions). Data that
 * contains itself, which no transcript can hold, becomes undefined.
 */
export const detach = <T>(value: T): T => attempt(() => copy(value)) as T;

function copy(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return /function|symbol/.test(typeof value) ? undefined : value;
  if (Array.isArray(value)) return value.map((item) => copy(item) ?? null);
  if ("toJSON" in value && typeof value.toJSON === "function") return copy(value.toJSON());
  const result: Json = {};
  for (const [key, field] of Object.entries(value)) {
    const copied = copy(field);
    // Assigning `__proto__` would set the prototype instead of a field.
    if (copied !== undefined && key !== "__proto__") result[key] = copied;
  }
  return result;
}
