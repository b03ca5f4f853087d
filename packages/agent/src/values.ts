export type Json = Record<string, unknown>;
export type Awaitable<T> = T | Promise<T>;

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

/**
 * Calls back; a failure, at once or later, goes to `failed`. Gives what somebody has to wait for, if anything: a
 * callback written in JavaScript may give anything, such as the result of `push`.
 */
export function guarded(callback: () => unknown, failed: (error: unknown) => void | Promise<void>) {
  try {
    const value = callback();
    return isRecord(value) && "then" in value ? Promise.resolve(value).then(() => undefined, failed) : undefined;
  } catch (error) {
    return failed(error);
  }
}

/** A deep copy in the sense of JSON, faster than `structuredClone`; what cannot be read, or contains itself, is left out. */
export const detach = <T>(value: T): T => attempt(() => copy(value, [])) as T;

/** @param around the objects that `value` is in */
function copy(value: unknown, around: unknown[]): unknown {
  if (typeof value === "bigint") return String(value);
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value !== "object" || value === null) return /function|symbol/.test(typeof value) ? undefined : value;
  if (around.includes(value)) return undefined;
  if ("toJSON" in value && typeof value.toJSON === "function") return copy(value.toJSON(), [...around, value]);
  around.push(value);
  const result = Array.isArray(value) ? value.map((item) => copy(item, around) ?? null) : copyFields(value, around);
  around.pop();
  return result;
}

function copyFields(value: object, around: unknown[]): Json {
  const result: Json = {};
  for (const [key, field] of Object.entries(value)) {
    const copied = copy(field, around);
    // Assigning `__proto__` would set the prototype instead of a field.
    if (copied !== undefined && key !== "__proto__") result[key] = copied;
  }
  return result;
}
