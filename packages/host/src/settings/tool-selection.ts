import { nameMatcher } from "../platform/child-variables.ts";
import { nearNames } from "../platform/near-names.ts";
import { configError } from "./config-error.ts";

export interface ToolSelection {
  /** All tools that there are, in the order the model sees them. */
  readonly available: readonly string[];
  /** On when nothing else is said. */
  readonly defaults: readonly string[];
  /** `defaultTools` of each settings layer, in order. */
  readonly layers: readonly (readonly string[])[];
  /** `--tools`. */
  readonly list?: readonly string[];
  /** `--exclude-tools`: names, or patterns with `*`; applied last. */
  readonly exclude?: readonly string[];
  /** `--no-tools`. */
  readonly none?: boolean;
}

/**
 * The names of the tools that are on, in the order of `available`. A list of plain names (or patterns with `*`)
 * replaces what was on; a list of `+name` and `-name` changes it. Throws ConfigError for a name that does not exist.
 */
export function selectTools(selection: ToolSelection): string[] {
  if (selection.none) return [];
  const lists = [selection.defaults, ...selection.layers, ...(selection.list ? [selection.list] : [])];
  const on = lists.reduce<Set<string>>((before, list) => applyList(before, list, selection.available), new Set());
  const isExcluded = nameMatcher((selection.exclude ?? []).map((name) => known(name, selection.available)));
  return selection.available.filter((name) => on.has(name) && !isExcluded(name));
}

/** Splits the value of `--tools`: commas, spaces around them do not matter. */
export function splitToolList(text: string): string[] {
  return text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

function applyList(before: Set<string>, list: readonly string[], available: readonly string[]): Set<string> {
  const changes = list.filter((name) => /^[+-]/.test(name));
  const plain = list.filter((name) => !/^[+-]/.test(name));
  const isNamed = nameMatcher(plain.map((name) => known(name, available)));
  const onlyChanges = changes.length > 0 && plain.length === 0;
  const on = onlyChanges ? new Set(before) : new Set(available.filter(isNamed));
  for (const change of changes) {
    const name = known(change.slice(1), available);
    if (change.startsWith("+")) on.add(name);
    else on.delete(name);
  }
  return on;
}

function known(name: string, available: readonly string[]): string {
  if (name.includes("*") || available.includes(name)) return name;
  throw configError("tool_unknown", { name, near: nearNames(name, available, 1), known: available });
}
