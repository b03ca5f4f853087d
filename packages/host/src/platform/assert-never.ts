/**
 * Marks the place behind a switch over a union: a new member that nobody handles there does not compile. At run time,
 * where data of another version may hold one, it returns `value` as it is.
 */
export function assertNever<T>(unexpected: never, value: T): T {
  void unexpected;
  return value;
}
