/** A deep copy of plain data that throws on any write; functions are kept as they are, since tools may carry some. */
export function frozenCopy<T>(value: T): T {
  return copy(value) as T;
}

function copy(value: unknown): unknown {
  if (Array.isArray(value)) return Object.freeze(value.map(copy));
  if (typeof value !== "object" || value === null) return value;
  return Object.freeze(Object.fromEntries(Object.entries(value).map(([key, field]) => [key, copy(field)])));
}
