import { findExisting } from "../../platform/existing-path.ts";
import { FileProblem } from "../../platform/file-problem.ts";
import { display } from "../../platform/missing-file.ts";
import { printableName } from "../../platform/terminal-text.ts";
import type { ToolEnvironment } from "../definition.ts";

/** Where a search starts. */
export interface SearchRoot {
  /** Absolute. */
  path: string;
  isFolder: boolean;
  /** The caller named it, so it is searched whatever ignore rules say (R090). */
  named: boolean;
  /** For texts: relative to the working directory where that is shorter. */
  shown: string;
}

/** Resolves the `path` of a search, the working directory when there is none. Throws a `FileProblem` with near names. */
export async function searchRoot(path: string | undefined, environment: ToolEnvironment): Promise<SearchRoot> {
  const found = await findExisting(path === undefined || path === "" ? "." : path, environment);
  if (!found.stats.isDirectory() && !found.stats.isFile()) {
    throw new FileProblem("NOT_A_FILE", `${path} is neither a file nor a folder; it cannot be searched.`);
  }
  return {
    path: found.path,
    isFolder: found.stats.isDirectory(),
    named: found.path !== environment.cwd,
    shown: shownPath(found.path, environment.cwd),
  };
}

/** A path in a result: relative inside the working directory, on one line, with `/` between its names. */
export function shownPath(path: string, cwd: string): string {
  return printableName(display(path, cwd));
}

/** A path below `root` as globs see it. */
export function pathBelow(root: string, path: string): string {
  const below = path.startsWith(root) ? path.slice(root.length) : path;
  return below.replaceAll("\\", "/").replace(/^\/+/, "");
}
