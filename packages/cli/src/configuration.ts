import { join } from "node:path";
import {
  configPaths,
  type Environment,
  isProjectTrusted,
  type LoadedSettings,
  loadSettings,
  ModelRegistry,
  projectConfigDir,
  readAuthFile,
  readModelsFile,
} from "@tau/host";
import type { CliArgs } from "./args.ts";
import { loadBuiltinProviders } from "./builtin-providers.ts";

/** What files and flags say, before a session is opened. */
export interface Configuration extends LoadedSettings {
  readonly registry: ModelRegistry;
  readonly trusted: boolean;
  readonly offline: boolean;
  readonly paths: ReturnType<typeof configPaths>;
  /** Of the project; read only when it is trusted. */
  readonly projectPaths: ReturnType<typeof configPaths>;
}

/** Reads the configuration. Throws ConfigError (exit 2) for files that cannot be understood. */
export async function readConfiguration(args: CliArgs, environment: Environment): Promise<Configuration> {
  const paths = configPaths(environment.tauDir);
  const projectPaths = configPaths(projectConfigDir(environment.cwd));
  const flag = args.flags.has("approve") ? true : args.flags.has("no-approve") ? false : undefined;
  const trusted = isProjectTrusted({ flag });
  const loaded = await loadSettings({
    homeFile: paths.settings,
    ...(trusted && { projectFile: projectPaths.settings }),
    flags: flagSettings(args),
  });
  const authFile = await readAuthFile(paths.auth);
  const own = await readModelsFile(paths.models);
  const project = trusted ? await readModelsFile(join(projectPaths.models)) : [];
  return {
    ...loaded,
    warnings: [...loaded.warnings, ...authFile.warnings],
    registry: new ModelRegistry({
      providers: [...project, ...own],
      authFile,
      variables: environment.variables,
      loadBuiltin: loadBuiltinProviders,
    }),
    trusted,
    offline: environment.offline || args.flags.has("offline"),
    paths,
    projectPaths,
  };
}

/** Flags that are settings, in the shape of settings.json. */
function flagSettings(args: CliArgs): Record<string, unknown> {
  const { "max-turns": maxTurns, "max-cost": maxCost, timeout } = args.numbers;
  return {
    limits: { maxTurns, maxCost, maxSeconds: timeout },
    permission: { mode: args.texts.permission?.[0] },
  };
}
