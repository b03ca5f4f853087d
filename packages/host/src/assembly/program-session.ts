import { statSync } from "node:fs";
import { homedir } from "node:os";
import { type Environment, readEnvironment } from "../platform/environment.ts";
import { configPaths, projectConfigDir, sameDirectory } from "../platform/home.ts";
import type { AgentSession } from "../session/agent-session.ts";
import { readAuthFile } from "../settings/auth-file.ts";
import { withBaseUrls } from "../settings/base-urls.ts";
import { configError } from "../settings/config-error.ts";
import { ModelRegistry } from "../settings/model-registry.ts";
import { readModelsFiles } from "../settings/models-file.ts";
import { withNamedVariables } from "../settings/named-variables.ts";
import { DEFAULT_SETTINGS } from "../settings/settings.ts";
import { createMemoryStore } from "../store/open-session.ts";
import { assemble } from "./assemble.ts";
import type { Foundation } from "./configuration.ts";
import type { AssemblyInput } from "./input.ts";
import type { CreateAgentSessionOptions } from "./sdk-options.ts";
import { sessionProcesses } from "./session-processes.ts";

/** A program asks for what a project's files say; without a word of it none of them is read. */
const NO_FILES: AssemblyInput = {
  context: { contextFiles: false, defaultSkills: false, defaultTemplates: false, promptFiles: false },
};

/** The session of a program: what it gave, and the parts of the command for the rest. */
export async function assembleForProgram(options: CreateAgentSessionOptions): Promise<AgentSession> {
  const { env, model, cwd, store, ...own } = options;
  if (!isDirectory(cwd)) throw configError("folder_missing", { path: cwd });
  const environment = environmentOf(cwd, env);
  const registry = options.models ?? (typeof model === "string" ? await homeRegistry(environment) : undefined);
  const chosen = typeof model === "string" ? await registry?.resolve({ pattern: model }) : { model };
  const { session } = await assemble({
    input: NO_FILES,
    environment,
    cwd,
    foundation: foundationOf(environment, registry),
    store: store ?? createMemoryStore({ cwd }),
    own: { ...chosen, ...own },
    processes: sessionProcesses(),
    words: (failure) => failure.forProgram(),
  });
  return session;
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function environmentOf(cwd: string, env: CreateAgentSessionOptions["env"]): Environment {
  const userHome = env?.HOME || homedir();
  const plain = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: userHome };
  return readEnvironment(env ?? plain, { userHome, cwd, sameDirectory });
}

/** The models and keys that the command `tau` would find outside of a project. */
async function homeRegistry({ tauDir, variables }: Environment): Promise<ModelRegistry> {
  const paths = configPaths(tauDir);
  const [models, auth] = await Promise.all([readModelsFiles([paths.models]), readAuthFile(paths.auth)]);
  const own = withBaseUrls(withNamedVariables(models, variables), variables).models;
  return new ModelRegistry({ models: own, auth, variables });
}

function foundationOf({ tauDir, cwd }: Environment, registry: ModelRegistry | undefined): Foundation {
  return {
    settings: DEFAULT_SETTINGS,
    toolLayers: [],
    warnings: [],
    registry,
    trusted: false,
    paths: configPaths(tauDir),
    projectPaths: configPaths(projectConfigDir(cwd)),
  };
}
