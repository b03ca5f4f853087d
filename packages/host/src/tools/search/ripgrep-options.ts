import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { SearchRoot } from "./search-root.ts";

/**
 * Options of every search: no configuration file of the user, hidden files as well (R090), ignore files also outside of
 * a git repository (inside of one its border counts: what is above it has no say, report R231), no git data unless it is named, no complaints about files that cannot be read (the exit code tells).
 */
export function baseOptions(root: SearchRoot, { ignored }: { ignored: boolean }): string[] {
  const insideGit = /(^|[\\/])\.git([\\/]|$)/.test(root.path);
  return [
    "--no-config",
    "--hidden",
    ...(isInRepository(root.path) ? [] : ["--no-require-git"]),
    "--no-messages",
    ...(insideGit ? [] : ["--glob=!.git"]),
    ...(ignored ? ["--no-ignore"] : []),
  ];
}

function isInRepository(folder: string): boolean {
  if (existsSync(join(folder, ".git"))) return true;
  const above = dirname(folder);
  return above !== folder && isInRepository(above);
}
