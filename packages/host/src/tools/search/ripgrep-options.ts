import type { SearchRoot } from "./search-root.ts";

/**
 * Options of every search: no configuration file of the user, hidden files as well (R090), ignore files also outside of
 * a git repository, no git data unless it is named, no complaints about files that cannot be read (the exit code tells).
 */
export function baseOptions(root: SearchRoot, { ignored }: { ignored: boolean }): string[] {
  const insideGit = /(^|[\\/])\.git([\\/]|$)/.test(root.path);
  return [
    "--no-config",
    "--hidden",
    "--no-require-git",
    "--no-messages",
    ...(insideGit ? [] : ["--glob=!.git"]),
    ...(ignored ? ["--no-ignore"] : []),
  ];
}
