import type { JsonObject } from "./json-file.ts";

/**
 * Settings of pi that change what a run does and that tau does not have. Those of its screen are passed over in silence:
 * nobody misses them here.
 */
const FOREIGN: readonly string[] = [
  ...["packages", "extensions", "enabledModels", "thinkingBudgets", "codemode", "branchSummary"],
];

/** One line for all of them in a file; none when they are empty. */
export function foreignSettings({ source, values }: { source: string; values: JsonObject }): string[] {
  const found = FOREIGN.filter((key) => Object.hasOwn(values, key) && !isEmpty(values[key]));
  if (found.length === 0) return [];
  const names = found.map((key) => `"${key}"`).join(", ");
  return [`${source}: ${names} ${found.length === 1 ? "is" : "are"} not used by tau; the other settings hold`];
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return value === undefined || value === null || value === "";
  return Object.keys(value).length === 0;
}
