import { basename, dirname, sep } from "node:path";

/** A setting such as `skills`, taken apart. */
export interface ResourceList {
  /** Places to look in. */
  readonly places: readonly string[];
  /** Whether a file that was found is to be left out. */
  isExcluded(path: string): boolean;
}

/**
 * Reads a list of paths in which `-path` and `!path` leave something out: a file, all below a folder, or, as a bare word,
 * what has this name. `+path` is the same as the path.
 *
 * @param resolve makes a path of the setting absolute
 */
export function resourceList(entries: readonly string[], resolve: (path: string) => string): ResourceList {
  const isOut = (entry: string) => /^[-!]/.test(entry);
  const places = entries.filter((entry) => !isOut(entry)).map((entry) => resolve(entry.replace(/^\+/, "")));
  const out = entries.filter(isOut).map((entry) => entry.slice(1));
  return {
    places,
    isExcluded: (path) =>
      out.some((each) => (/[\\/]/.test(each) ? isAtOrBelow(path, resolve(each)) : namesOf(path).includes(each))),
  };
}

function isAtOrBelow(path: string, place: string): boolean {
  return path === place || path.startsWith(place.endsWith(sep) ? place : place + sep);
}

/** `pdf` for `…/pdf/SKILL.md`, `review` for `…/review.md`. */
function namesOf(path: string): string[] {
  const name = basename(path);
  return name === "SKILL.md" ? [basename(dirname(path))] : [name, name.replace(/\.md$/i, "")];
}
