import { dirname } from "node:path";
import {
  ConfigError,
  configPaths,
  type Environment,
  expandTilde,
  isProjectTrusted,
  kindOf,
  type LoadedSettings,
  loadSettings,
  ModelRegistry,
  projectConfigDir,
  readAuthFile,
  readModelsFiles,
  type Settings,
  shellProblem,
} from "@tau/host";
import type { CliArgs } from "./arguments/args.ts";

/** What files and flags say, before a session is opened. */
export interface Configuration extends LoadedSettings {
  readonly registry: ModelRegistry;
  readonly trusted: boolean;
  readonly paths: ReturnType<typeof configPaths>;
  /** Of the project; read only when it is trusted. */
  readonly projectPaths: ReturnType<typeof configPaths>;
}

/** Reads the configuration. Throws ConfigError (exit 2) for files that cannot be understood. */
export async function readConfiguration(args: CliArgs, environment: Environment): Promise<Configuration> {
  checkHome(environment);
  const paths = configPaths(environment.tauDir);
  const projectPaths = configPaths(projectConfigDir(environment.cwd));
  const flag = args.flags.has("approve") ? true : args.flags.has("no-approve") ? false : undefined;
  const trusted = isProjectTrusted({ flag });
  const loaded = await loadSettings({
    homeFile: paths.settings,
    ...(trusted && { projectFile: projectPaths.settings }),
    flags: flagSettings(args),
  });
  const auth = await readAuthFile(paths.auth);
  const models = await readModelsFiles(trusted ? [projectPaths.models, paths.models] : [paths.models]);
  return {
    ...loaded,
    warnings: [
      ...loaded.warnings,
      ...auth.warnings,
      ...models.warnings,
      ...(await shellWarnings(loaded.settings, environment)),
    ],
    registry: new ModelRegistry({ models, auth, variables: environment.variables }),
    trusted,
    paths,
    projectPaths,
  };
}

/** In a home that can be no folder every file would be missing, and that would be told instead. */
function checkHome({ tauDir }: Environment): void {
  for (let at = tauDir, above = dirname(at); ; at = above, above = dirname(at)) {
    const kind = kindOf(at);
    if (kind !== undefined && kind !== "folder")
      throw new ConfigError(`${tauDir} cannot be tau's folder: ${at} is no folder; set TAU_DIR to another place`);
    if (kind === "folder" || above === at) return;
  }
}

/** Told at the start: else the first command of a long task would find out. */
async function shellWarnings({ shellPath }: Settings, { variables, userHome }: Environment): Promise<string[]> {
  if (shellPath === undefined) return [];
  const problem = await shellProblem(expandTilde(shellPath, userHome), variables);
  return problem === undefined ? [] : [problem];
}

/** Flags that are settings, in the shape of settings.json. */
function flagSettings(args: CliArgs): Record<string, unknown> {
  const { "max-turns": maxTurns, "max-cost": maxCost, timeout } = args.numbers;
  return {
    limits: { maxTurns, maxCost, maxSeconds: timeout },
    permission: { mode: args.texts.permission?.[0] },
  };
}
