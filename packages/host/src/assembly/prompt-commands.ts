import { join, sep } from "node:path";
import type { PromptCommand } from "../session/session-host.ts";
import type { Configuration } from "./configuration.ts";
import type { Resources } from "./resources.ts";

type Scope = PromptCommand["scope"];

/** What a user can call by `/name`, for clients that offer a list. */
export function promptCommands(
  { templates, skills }: Resources,
  { paths, projectPaths }: Configuration,
  userHome: string,
): PromptCommand[] {
  const folders: readonly (readonly [string, Scope])[] = [
    [projectPaths.dir, "project"],
    [paths.dir, "user"],
    [join(userHome, ".agents"), "user"],
  ];
  const scopeOf = (path: string): Scope => {
    const found = folders.find(([folder]) => path.startsWith(folder + sep));
    // Skills of a project also lie in the folders above it; what is left was given by a flag.
    return found?.[1] ?? (path.includes(join(sep, ".agents", "skills", sep)) ? "project" : "temporary");
  };
  const prompts = templates.map(({ name, description, path }) => ({
    name,
    description,
    path,
    source: "prompt" as const,
  }));
  const called = skills.map(({ name, description, path }) => {
    return { name: `skill:${name}`, description, path, source: "skill" as const };
  });
  return [...prompts, ...called].map((command) => ({ ...command, scope: scopeOf(command.path) }));
}
