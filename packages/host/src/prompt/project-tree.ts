import { dirname, join, sep } from "node:path";
import { kindOf, realPathOf } from "../platform/home.ts";

/** A file of a project that is a link out of it. */
export interface Escape {
  /** What the link leads to. */
  readonly realPath: string;
  /** The folder that it would have to be in. */
  readonly tree: string;
}

export interface FileInFolder {
  /** The folder that the file was found in, by the path that the user named. */
  readonly folder: string;
  readonly path: string;
  readonly realPath: string;
  /** Working directory, by the path that the user named. */
  readonly cwd: string;
}

/**
 * Where a file of a project leads to, when that is outside of the project; undefined for one that is inside. A repository
 * comes from strangers as a rule, and a link in it must not send a key of the user's to the model (R308). The project is
 * the repository of the folder; where there is none, the working directory, or the folder itself above that.
 */
export function escapeOf({ folder, path, realPath, cwd }: FileInFolder): Escape | undefined {
  if (realPath === path) return undefined;
  const isBelow = folder !== cwd && isInside(folder, cwd);
  const tree = repositoryOf(folder) ?? (isBelow ? cwd : folder);
  // The user chose the way to the working directory, also where it leads through a link.
  const allowed = isBelow ? [tree] : [tree, folder];
  const isAllowed = allowed.some((each) => isInside(realPath, realPathOf(each) ?? each));
  return isAllowed ? undefined : { realPath, tree };
}

function repositoryOf(folder: string): string | undefined {
  for (let at = folder, above = dirname(at); ; at = above, above = dirname(at)) {
    if (kindOf(join(at, ".git")) !== undefined) return at;
    if (at === above) return undefined;
  }
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
