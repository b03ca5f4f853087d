import { join, resolve, sep } from "node:path";
import { type Environment, expandTilde } from "../platform/environment.ts";
import { kindOf, realPathOf } from "../platform/home.ts";
import { ContextFileCollector, findContextFiles } from "../prompt/context-files.ts";
import { escapeOf } from "../prompt/project-tree.ts";
import { resourceList } from "../prompt/resource-list.ts";
import { findSkills, type Skill } from "../prompt/skills.ts";
import { findTemplates, type PromptTemplate } from "../prompt/templates.ts";
import { configError } from "../settings/config-error.ts";
import type { Foundation } from "./configuration.ts";
import type { ContextRequest } from "./input.ts";
import { agentsFolders } from "./project-places.ts";

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
  readonly foundation: Foundation;
}

/** Finds context files, skills and prompt templates. A project's own count only when it is trusted (R145). */
export function findResources(request: ContextRequest, places: Places): Resources {
  const { environment, foundation, cwd } = places;
  const names = foundation.settings.contextFileNames;
  const contextFiles =
    request.contextFiles === false
      ? new ContextFileCollector([], cwd)
      : findContextFiles({ tauDir: environment.tauDir, cwd, names });
  const lists = settingLists(places);
  const { skills, warnings: skillWarnings } = findSkills([
    ...givenPaths("skill", request.skills, environment),
    ...(request.defaultSkills === false ? [] : skillPlaces(places)),
  ]);
  const { templates, warnings: templateWarnings } = findTemplates([
    ...givenPaths("prompt-template", request.templates, environment),
    ...(request.defaultTemplates === false ? [] : templatePlaces(places)),
  ]);
  const skillsInside = insideProject(skills, places);
  const templatesInside = insideProject(templates, places);
  return {
    contextFiles,
    skills: skillsInside.kept.filter(({ path }) => !lists.skills.isExcluded(path)),
    templates: templatesInside.kept.filter(({ path }) => !lists.prompts.isExcluded(path)),
    warnings: [
      ...contextFiles.warnings,
      ...skillWarnings,
      ...templateWarnings,
      ...skillsInside.warnings,
      ...templatesInside.warnings,
      ...emptyPlaces(request, places),
    ],
  };
}

/** Leaves out what stands in a folder of the project and is a link out of it, as with context files (R308). */
function insideProject<Item extends { readonly path: string }>(
  items: readonly Item[],
  { cwd, foundation: { projectPaths } }: Places,
): { kept: Item[]; warnings: string[] } {
  const folders = [projectPaths.skills, projectPaths.prompts, ...agentsFolders(cwd)];
  const warnings: string[] = [];
  const kept = items.filter(({ path }) => {
    const folder = folders.find((each) => path.startsWith(each + sep));
    const realPath = folder === undefined ? undefined : realPathOf(path);
    if (folder === undefined || realPath === undefined) return true;
    const escaped = escapeOf({ folder, path, realPath, cwd });
    if (!escaped) return true;
    warnings.push(`${path} is left out: it leads to ${realPath}, outside of ${escaped.tree}; put a copy in its place`);
    return false;
  });
  return { kept, warnings };
}

/** The settings `skills` and `prompts`. */
function settingLists({ environment, foundation: { settings } }: Places) {
  const read = (entries: readonly string[]) => resourceList(entries, (path) => inHome(path, environment));
  return { skills: read(settings.skills), prompts: read(settings.prompts) };
}

/** Paths that are given by hand must exist: a typing error there must not go unnoticed. */
function givenPaths(option: string, given: readonly string[] = [], { cwd, userHome }: Environment): string[] {
  return given.map((each) => {
    const path = resolve(cwd, expandTilde(each, userHome));
    if (kindOf(path) === undefined) throw configError("resource_missing", { option, given: each });
    return path;
  });
}

/** One line for each place that a user named and that gives nothing: as a rule a typing error. */
function emptyPlaces({ skills, templates }: ContextRequest, places: Places): string[] {
  const { environment, foundation } = places;
  const { paths } = foundation;
  const lists = settingLists(places);
  const missing = (key: "skills" | "prompts") =>
    lists[key].places
      .filter((path) => kindOf(path) === undefined)
      .map((path) => `${paths.settings}: "${key}" names ${path}, and there is no such file or folder`);
  return [
    ...givenPaths("skill", skills, environment)
      .filter((path) => isBare(findSkills([path])))
      .map((path) => `--skill ${path}: there is no skill in it; a skill is a folder with a SKILL.md`),
    ...givenPaths("prompt-template", templates, environment)
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

function skillPlaces(places: Places): string[] {
  const { environment, foundation, cwd } = places;
  const { paths, projectPaths, trusted } = foundation;
  const own = [paths.skills, join(environment.userHome, ".agents/skills"), ...settingLists(places).skills.places];
  return trusted ? [projectPaths.skills, ...agentsFolders(cwd), ...own] : own;
}

function templatePlaces(places: Places): string[] {
  const { paths, projectPaths, trusted } = places.foundation;
  const own = [paths.prompts, ...settingLists(places).prompts.places];
  return trusted ? [projectPaths.prompts, ...own] : own;
}

function inHome(path: string, { tauDir, userHome }: Environment): string {
  return resolve(tauDir, expandTilde(path, userHome));
}
