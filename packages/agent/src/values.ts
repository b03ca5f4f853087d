export type Json = Record<string, unknown>;

export const isRecord = (value: unknown): value is Json => kindOf(value) === "object";
export const kindOf = (value: unknown) => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value);
export const parseJson = (text: string): unknown => attempt(() => JSON.parse(text));
/** The fields that are there. */
export const defined = <T extends object>(value: T) =>
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };

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

/** What a callback made somebody wait for; one written in JavaScript may give anything, such as the result of `push`. */
export const pendingOf = (value: unknown): Promise<void> | undefined =>
  isRecord(value) && "then" in value ? Promise.resolve(value).then(() => undefined) : undefined;

/** A deep copy in the sense of JSON, faster than `structuredClone`; data that contains itself becomes undefined. */
export const detach = <T>(value: T): T => attempt(() => copy(value)) as T;

function copy(value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
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
