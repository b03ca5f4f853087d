import { dirname, join, relative } from "node:path";
import type { Environment } from "../platform/environment.ts";
import { type ConfigPaths, kindOf, sameDirectory } from "../platform/home.ts";

/** `.agents/skills` of the working directory and the folders above it, up to the repository's root. */
export function agentsFolders(cwd: string): string[] {
  const folders: string[] = [];
  for (let at = cwd, above = dirname(cwd); ; at = above, above = dirname(at)) {
    folders.push(join(at, ".agents/skills"));
    if (at === above || kindOf(join(at, ".git")) !== undefined) return folders;
  }
}

/**
 * One line that names what a project would add if it were trusted; empty when it has nothing. Without it a user would
 * look for the mistake in the file that is not read. The home's own places are used in any case.
 */
export function untrustedPlaces(
  { settings, models, skills, prompts, dir }: ConfigPaths,
  { cwd, tauDir, userHome }: Environment,
): string[] {
  const own = sameDirectory(dir, tauDir) ? [] : [settings, models, skills, prompts];
  const agents = agentsFolders(cwd).filter((path) => !sameDirectory(path, join(userHome, ".agents/skills")));
  const present = [...own, ...agents].filter((path) => kindOf(path) !== undefined).map((path) => relative(cwd, path));
  if (present.length === 0) return [];
  const names = present.join(", ");
  return [`${names}: not used, since this project is not trusted; --approve uses it, --no-approve hides this warning`];
}
