import { nameMatcher } from "../platform/child-variables.ts";
import { nearNames } from "../platform/near-names.ts";
import { type ConfigError, configError } from "./config-error.ts";

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

export interface SelectedTools {
  /** In the order of `available`. */
  readonly names: readonly string[];
  /** One line a name that does not exist. */
  readonly warnings: readonly string[];
}

/**
 * The tools that are on. A list of plain names (or patterns with `*`) replaces what was on; a list of `+name` and `-name`
 * changes it. A name that does not exist is left out with a warning: files are shared, and other programs have other
 * tools. Throws ConfigError for one in an option that is nearly that of a tool, or that leaves a list without any.
 */
export function selectTools(selection: ToolSelection): SelectedTools {
  if (selection.none) return { names: [], warnings: [] };
  const { available, list, exclude = [] } = selection;
  const check = new NameCheck(available);
  // A layer of which nothing is left says nothing; an empty one says "none".
  const layers = selection.layers.flatMap((names) => {
    const known = check.known("the setting defaultTools", names);
    return known.length > 0 || names.length === 0 ? [known] : [];
  });
  const given = list && check.known("--tools", list, true);
  if (list && list.length > 0 && given?.length === 0) throw check.unknown(bare(list[0] ?? ""));
  const lists = [selection.defaults, ...layers, ...(given ? [given] : [])];
  const on = lists.reduce<Set<string>>((before, names) => applyList(before, names, available), new Set());
  const isExcluded = nameMatcher(check.known("--exclude-tools", exclude, true));
  return { names: available.filter((name) => on.has(name) && !isExcluded(name)), warnings: check.warnings };
}

/** Takes names that do not exist out of lists. */
class NameCheck {
  readonly warnings: string[] = [];
  readonly #available: readonly string[];

  constructor(available: readonly string[]) {
    this.#available = available;
  }

  /** @param strict a name that is nearly that of a tool is an error, since it was typed just now */
  known(place: string, names: readonly string[], strict = false): string[] {
    return names.filter((given) => {
      const name = bare(given);
      if (name.includes("*") || this.#available.includes(name)) return true;
      const [near] = nearNames(name, this.#available, 1);
      if (strict && near !== undefined) throw this.unknown(name);
      const hint = near === undefined ? `there are ${this.#available.join(", ")}` : `did you mean ${near}?`;
      this.warnings.push(`${place}: there is no tool "${name}", so it is left out; ${hint}`);
      return false;
    });
  }

  unknown(name: string): ConfigError {
    const near = nearNames(name, this.#available, 1);
    return configError("tool_unknown", { name, near, known: this.#available });
  }
}

function bare(name: string): string {
  return name.replace(/^[+-]/, "");
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
  const isNamed = nameMatcher(plain);
  const onlyChanges = changes.length > 0 && plain.length === 0;
  const on = onlyChanges ? new Set(before) : new Set(available.filter(isNamed));
  for (const change of changes) {
    if (change.startsWith("+")) on.add(bare(change));
    else on.delete(bare(change));
  }
  return on;
}
