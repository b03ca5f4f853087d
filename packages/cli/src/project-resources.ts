import { dirname, join, resolve } from "node:path";
import {
  ContextFileCollector as Collector,
  type ContextFileCollector,
  type Environment,
  expandTilde,
  findContextFiles,
  findSkills,
  findTemplates,
  kindOf,
  type PromptTemplate,
  type Skill,
} from "@tau/host";
import type { CliArgs } from "./arguments/args.ts";
import { UsageError } from "./arguments/usage-error.ts";
import type { Configuration } from "./configuration.ts";

/** What goes into prompts besides what the user types. */
export interface Resources {
  readonly contextFiles: ContextFileCollector;
  readonly skills: readonly Skill[];
  readonly templates: readonly PromptTemplate[];
  readonly warnings: readonly string[];
}

export interface Places {
  /** Working directory as the user named it. */
  readonly cwd: string;
  readonly environment: Environment;
  readonly configuration: Configuration;
}

/** Finds context files, skills and prompt templates. A project's own count only when it is trusted (R145). */
export function findResources(args: CliArgs, places: Places): Resources {
  const { environment, configuration, cwd } = places;
  const names = configuration.settings.contextFileNames;
  const contextFiles = args.flags.has("no-context-files")
    ? new Collector([])
    : findContextFiles({ tauDir: environment.tauDir, cwd, names });
  const { skills, warnings: skillWarnings } = findSkills([
    ...givenPaths(args, "skill", environment),
    ...(args.flags.has("no-skills") ? [] : skillPlaces(places)),
  ]);
  const { templates, warnings: templateWarnings } = findTemplates([
    ...givenPaths(args, "prompt-template", environment),
    ...(args.flags.has("no-prompt-templates") ? [] : templatePlaces(places)),
  ]);
  return {
    contextFiles,
    skills,
    templates,
    warnings: [...contextFiles.warnings, ...skillWarnings, ...templateWarnings, ...emptyPlaces(args, places)],
  };
}

/** Paths of flags must exist: a typing error there is not to be passed over. */
function givenPaths(args: CliArgs, option: string, { cwd, userHome }: Environment): string[] {
  return (args.texts[option] ?? []).map((given) => {
    const path = resolve(cwd, expandTilde(given, userHome));
    if (kindOf(path) === undefined) throw new UsageError(`--${option} ${given}: there is no such file or folder`);
    return path;
  });
}

/** One line for each place that a user named and that gives nothing: as a rule a typing error. */
function emptyPlaces(args: CliArgs, { environment, configuration }: Places): string[] {
  const { settings, paths } = configuration;
  const given = (option: string) => givenPaths(args, option, environment);
  const missing = (key: "skills" | "prompts") =>
    settings[key]
      .map((path) => inHome(path, environment))
      .filter((path) => kindOf(path) === undefined)
      .map((path) => `${paths.settings}: "${key}" names ${path}, and there is no such file or folder`);
  return [
    ...given("skill")
      .filter((path) => isBare(findSkills([path])))
      .map((path) => `--skill ${path}: there is no skill in it; a skill is a folder with a SKILL.md`),
    ...given("prompt-template")
      .filter((path) => isBare(findTemplates([path])))
      .map((path) => `--prompt-template ${path}: there is no template in it; a template is a file that ends in .md`),
    ...missing("skills"),
    ...missing("prompts"),
  ];
}

/** Nothing found, and nothing said about it. */
function isBare({ warnings, ...found }: { readonly warnings: readonly string[] } & object): boolean {
  return warnings.length === 0 && Object.values(found).every((list) => Array.isArray(list) && list.length === 0);
}

function skillPlaces({ environment, configuration, cwd }: Places): string[] {
  const { paths, projectPaths, settings, trusted } = configuration;
  const own = [
    paths.skills,
    join(environment.userHome, ".agents/skills"),
    ...settings.skills.map((path) => inHome(path, environment)),
  ];
  return trusted ? [projectPaths.skills, ...agentsFolders(cwd), ...own] : own;
}

function templatePlaces({ environment, configuration }: Places): string[] {
  const { paths, projectPaths, settings, trusted } = configuration;
  const own = [paths.prompts, ...settings.prompts.map((path) => inHome(path, environment))];
  return trusted ? [projectPaths.prompts, ...own] : own;
}

function inHome(path: string, { tauDir, userHome }: Environment): string {
  return resolve(tauDir, expandTilde(path, userHome));
}

/** `.agents/skills` of the working directory and the folders above it, up to the repository's root. */
function agentsFolders(cwd: string): string[] {
  const folders: string[] = [];
  for (let at = cwd, above = dirname(cwd); ; at = above, above = dirname(at)) {
    folders.push(join(at, ".agents/skills"));
    if (at === above || kindOf(join(at, ".git")) !== undefined) return folders;
  }
}
