import { nearNames } from "../platform/near-names.ts";
import { isObject, type JsonObject } from "./json-file.ts";
import { SETTING_ROWS } from "./settings-table.ts";

/** All paths that mean something in a settings file, and the groups that hold some of them. */
const KNOWN: ReadonlySet<string> = new Set(SETTING_ROWS.flatMap(({ key, aliases = [] }) => [key, ...aliases]));
const GROUPS: ReadonlySet<string> = new Set([...KNOWN].filter(isNested).map(groupOf));

/**
 * One line for each key that is most likely a known one mistyped, with that one. Other unknown keys are left alone:
 * the file may be shared with programs that have more settings.
 */
export function mistypedKeys({ source, values }: { source: string; values: JsonObject }): string[] {
  return pathsOf(values).flatMap(({ path, key }) => {
    // A path that is written as one key is not looked for.
    const isKnown = (KNOWN.has(path) && !(key === path && isNested(path))) || GROUPS.has(path);
    const meant = isKnown ? undefined : meantBy(path);
    if (meant === undefined) return [];
    const place = isNested(meant) ? ` ({"${groupOf(meant)}": {"${leafOf(meant)}": …}})` : "";
    return [`${source}: "${path}" is not a setting and is ignored; did you mean "${meant}"${place}?`];
  });
}

/** Keys of the file, and of those objects in it that are groups of settings. */
function pathsOf(values: JsonObject): { path: string; key: string }[] {
  return Object.entries(values).flatMap(([key, value]) =>
    GROUPS.has(key) && isObject(value)
      ? Object.keys(value).map((inner) => ({ path: `${key}.${inner}`, key: inner }))
      : [{ path: key, key }],
  );
}

function meantBy(path: string): string | undefined {
  // A path written as one key, or the right name at the wrong place.
  const sameLeaf = [...KNOWN].filter((known) => leafOf(known).toLowerCase() === leafOf(path).toLowerCase());
  if (sameLeaf.length === 1) return sameLeaf[0];
  const candidates = [...KNOWN, ...GROUPS].filter((known) => groupOf(known) === groupOf(path) || !isNested(known));
  // A name that holds another one is as a rule a setting of its own, such as `enableSkillCommands`.
  return nearNames(path, candidates).find((known) => Math.abs(known.length - path.length) <= 2);
}

function isNested(path: string): boolean {
  return path.includes(".");
}

function groupOf(path: string): string {
  return path.split(".")[0] ?? path;
}

function leafOf(path: string): string {
  return path.split(".").at(-1) ?? path;
}
