import { statSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { stream } from "@tau/llm";
import { childVariables } from "../platform/child-variables.ts";
import { type Environment, readEnvironment } from "../platform/environment.ts";
import { configPaths, sameDirectory } from "../platform/home.ts";
import { ProcessGroups } from "../platform/process-groups.ts";
import { buildSystemPrompt } from "../prompt/system-prompt.ts";
import type { AgentSessionOptions } from "../session/options.ts";
import { readAuthFile } from "../settings/auth-file.ts";
import { ConfigError } from "../settings/config-error.ts";
import { ModelRegistry } from "../settings/model-registry.ts";
import { readModelsFiles } from "../settings/models-file.ts";
import { createMemoryStore } from "../store/open-session.ts";
import { createUserCommandRunner } from "../tools/bash/user-command.ts";
import { createBuiltinTools, DEFAULT_TOOLS } from "../tools/builtin.ts";
import type { ToolEnvironment } from "../tools/definition.ts";
import { ToolRegistry } from "../tools/registry.ts";
import { withSdkCredentials } from "./sdk-credentials.ts";
import type { CreateAgentSessionOptions } from "./sdk-options.ts";

const BASH_TIMEOUT_SECONDS = 120;

/**
 * Fills in what a program left out: model and keys by name, the built-in tools, tau's prompt, a store in memory.
 *
 * @throws ConfigError for a folder that is not there and a model that is not known, UnknownToolError for such a tool;
 * the latter two name what is near
 */
export async function withDefaults(options: CreateAgentSessionOptions): Promise<AgentSessionOptions> {
  const { models: _models, env: _env, ...rest } = options;
  if (!isDirectory(options.cwd)) {
    throw new ConfigError(`createAgentSession: there is no folder ${options.cwd}; make it, or correct the option cwd`);
  }
  const environment = environmentOf(options);
  const chosen = await chooseModel(options, environment);
  const made = makeTools(options, environment, chosen.registry);
  return {
    ...rest,
    ...chosen.options,
    ...made,
    systemPrompt: options.systemPrompt ?? defaultPrompt(options.cwd, made.tools),
    store: options.store ?? createMemoryStore({ cwd: options.cwd }),
  };
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** tau's own words; what a project's files say is for the program to add. */
function defaultPrompt(cwd: string, tools: AgentSessionOptions["tools"]): AgentSessionOptions["systemPrompt"] {
  const names = tools.map(({ name }) => name);
  const { sections } = buildSystemPrompt({
    ...{ tools: names, cwd, platform: process.platform },
    ...{ contextFiles: [], skills: [] },
  });
  return { sections };
}

function environmentOf({ env, cwd }: CreateAgentSessionOptions): Environment {
  const userHome = env?.HOME || homedir();
  const plain = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: userHome };
  return readEnvironment(env ?? plain, { userHome, cwd, sameDirectory });
}

interface ChosenModel {
  readonly registry?: ModelRegistry;
  readonly options: Pick<AgentSessionOptions, "model" | "thinkingLevel" | "streamFn" | "findModel">;
}

async function chooseModel(options: CreateAgentSessionOptions, environment: Environment): Promise<ChosenModel> {
  const { model, models, thinkingLevel, getApiKey, streamFn, findModel } = options;
  if (typeof model !== "string" && !models) return { options: { model } };
  const registry = models ?? (await homeRegistry(environment));
  const choice = typeof model === "string" ? await registry.resolve({ pattern: model }) : { model };
  const sender = streamFn ?? (getApiKey ? undefined : withSdkCredentials(stream, registry));
  return {
    registry,
    options: {
      ...choice,
      ...(thinkingLevel && { thinkingLevel }),
      ...(sender && { streamFn: sender }),
      findModel: findModel ?? ((provider, id) => registry.find(provider, id)),
    },
  };
}

/** The models and keys that the command `tau` would find outside of a project. */
async function homeRegistry({ tauDir, variables }: Environment): Promise<ModelRegistry> {
  const paths = configPaths(tauDir);
  const [models, auth] = await Promise.all([readModelsFiles([paths.models]), readAuthFile(paths.auth)]);
  return new ModelRegistry({ models, auth, variables });
}

type MadeTools = Pick<AgentSessionOptions, "tools" | "userCommands" | "secrets" | "onDispose">;

/** The tools in the order they were given. What they start ends with the session (report R080). */
function makeTools(
  options: CreateAgentSessionOptions,
  environment: Environment,
  models: ModelRegistry | undefined,
): MadeTools {
  const { cwd, tools = DEFAULT_TOOLS, onDispose } = options;
  const { variables, depth, userHome: homeDir, tauDir } = environment;
  const { secrets = [] } = options;
  const given = () => (typeof secrets === "function" ? secrets() : secrets);
  const child = childVariables({ variables, secretNames: models?.secretVariables() ?? [], depth });
  const processes = new ProcessGroups();
  const place: ToolEnvironment = {
    ...{ cwd, homeDir, tauDir, env: child.variables, tempDir: join(tmpdir(), "tau"), processes },
    settings: { bashTimeoutSeconds: BASH_TIMEOUT_SECONDS },
  };
  const registry = new ToolRegistry(place, createBuiltinTools(place));
  for (const tool of tools) if (typeof tool !== "string") registry.register(tool);
  return {
    tools: registry.forLoop(tools.map((tool) => (typeof tool === "string" ? tool : tool.name))),
    userCommands: options.userCommands ?? createUserCommandRunner(place),
    secrets: () => [...child.secrets, ...(models?.literalKeys() ?? []), ...given()],
    async onDispose() {
      await processes.dispose();
      await onDispose?.();
    },
  };
}
