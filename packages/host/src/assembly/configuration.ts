import { dirname } from "node:path";
import { createCatalog } from "@tau/llm";
import { type Environment, expandTilde } from "../platform/environment.ts";
import { type ConfigPaths, configPaths, kindOf, projectConfigDir } from "../platform/home.ts";
import { shellProblem } from "../platform/shell-problem.ts";
import { type AuthFile, readAuthFile } from "../settings/auth-file.ts";
import { withBaseUrls } from "../settings/base-urls.ts";
import { configError } from "../settings/config-error.ts";
import { type LoadedSettings, loadSettings } from "../settings/load-settings.ts";
import { ModelRegistry } from "../settings/model-registry.ts";
import { readModelsFiles, type UserModels } from "../settings/models-file.ts";
import { withNamedVariables } from "../settings/named-variables.ts";
import { withProjectModels } from "../settings/project-models.ts";
import type { Settings } from "../settings/settings.ts";
import { isProjectTrusted } from "../settings/trust.ts";
import type { AssemblyInput } from "./input.ts";
import { untrustedPlaces } from "./project-places.ts";

/** What a session stands on before it is opened: settings, models, places. */
export interface Foundation extends LoadedSettings {
  /** Absent when a program gives the model itself. */
  readonly registry: ModelRegistry | undefined;
  /** By provider: the variable that says where it is. */
  readonly movedBy?: Readonly<Record<string, string>>;
  readonly trusted: boolean;
  readonly paths: ConfigPaths;
  /** Of the project; read only when it is trusted. */
  readonly projectPaths: ConfigPaths;
}

/** What files and the input say. */
export interface Configuration extends Foundation {
  readonly registry: ModelRegistry;
}

/** Reads the configuration of the user and of a trusted project. Throws ConfigError for what cannot be understood. */
export async function readConfiguration(input: AssemblyInput, environment: Environment): Promise<Configuration> {
  checkHome(environment);
  const paths = configPaths(environment.tauDir);
  const projectPaths = configPaths(projectConfigDir(environment.cwd));
  const trusted = isProjectTrusted({ flag: input.approved });
  const loaded = await loadSettings({
    homeFile: paths.settings,
    ...(trusted && { projectFile: projectPaths.settings }),
    ...(input.settings && { flags: input.settings }),
  });
  const [auth, inFile] = await Promise.all([readAuthFile(paths.auth), readModelsFiles([paths.models])]);
  const { variables } = environment;
  const { models: own, movedBy } = withBaseUrls(withNamedVariables(inFile, variables), variables);
  const models = trusted ? await withProject(projectPaths.models, { own, auth }) : own;
  return {
    ...loaded,
    warnings: [
      ...loaded.warnings,
      ...auth.warnings,
      ...models.warnings,
      ...(input.approved === undefined ? untrustedPlaces(projectPaths, environment) : []),
      ...(await shellWarnings(loaded.settings, environment)),
    ],
    registry: new ModelRegistry({ models, auth, variables: environment.variables }),
    movedBy,
    trusted,
    paths,
    projectPaths,
  };
}

async function withProject(path: string, { own, auth }: { own: UserModels; auth: AuthFile }): Promise<UserModels> {
  const project = await readModelsFiles([path]);
  if (Object.keys(project.providers).length === 0) return own;
  const known = new Set(await createCatalog().providers());
  const stored = Object.keys(auth.credentials);
  return withProjectModels(project, { models: own, stored, isBuiltIn: (provider) => known.has(provider) });
}

/** In a home that cannot be a folder every file would be missing, and the user would only see that. */
function checkHome({ tauDir }: Environment): void {
  for (let at = tauDir, above = dirname(at); ; at = above, above = dirname(at)) {
    const kind = kindOf(at);
    if (kind !== undefined && kind !== "folder") throw configError("home_not_folder", { path: tauDir, blockedBy: at });
    if (kind === "folder" || above === at) return;
  }
}

/** Checked at the start, not by the first command of a long task. */
async function shellWarnings({ shellPath }: Settings, { variables, userHome }: Environment): Promise<string[]> {
  if (shellPath === undefined) return [];
  const problem = await shellProblem(expandTilde(shellPath, userHome), variables);
  return problem === undefined ? [] : [problem];
}
