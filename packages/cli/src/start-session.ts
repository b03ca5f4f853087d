import {
  type AgentSession,
  ConfigError,
  createAgentSession,
  createCompactor,
  createUserCommandRunner,
  type Environment,
  keepText,
  type ModelChoice,
  type ModelInUse,
  type SessionStore,
  secretMask,
  withCredentials,
} from "@tau/host";
import { type Model, type StreamFn, stream, type ThinkingLevel } from "@tau/llm";
import type { CliArgs } from "./arguments/args.ts";
import { THINKING_LEVELS } from "./arguments/options.ts";
import { chooseModel, recordedModel } from "./choose-model.ts";
import { type Configuration, readConfiguration } from "./configuration.ts";
import { nothingContinued, openStore, type StorePlace, sessionsDirectory, workingDirectory } from "./open-store.ts";
import { type SessionProcesses, sessionProcesses } from "./process/session-processes.ts";
import { findResources, type Resources } from "./project-resources.ts";
import { makeSystemPrompt } from "./session-prompt.ts";
import { sessionSettings } from "./session-settings.ts";
import { makeTools, type SessionTools } from "./session-tools.ts";

export interface StartedSession extends Pick<SessionTools, "tools" | "toolEnvironment"> {
  readonly session: AgentSession;
  readonly store: SessionStore;
  readonly model: Model;
  readonly resources: Resources;
  /** How long the process may take, in seconds; 0 and undefined are no limit. */
  readonly maxSeconds: number | undefined;
  /** One line each, for the user. */
  readonly warnings: readonly string[];
  /** Whether the error of a reply is a mistake of the configuration, which came to light with the request. */
  isMistake(errorMessage: string): boolean;
  /** Kills what the tools started, for an end that cannot wait. */
  endNow(): void;
}

/** Makes sessions from one command line and one configuration. */
export interface SessionFactory {
  readonly configuration: Configuration;
  readonly place: StorePlace;
  /**
   * Makes a session on an open store, which is closed when that fails. The first one has what the flags say, one that
   * follows it what its file says, else what was in use. Throws ConfigError or UsageError, each with its remedy.
   */
  open(store: SessionStore, inUse?: ModelInUse): Promise<StartedSession>;
}

/**
 * Makes the session that the command line asks for: configuration, store, model, tools, prompt. Throws ConfigError,
 * UsageError or an error of the store, each with its remedy; nothing is on disk by then.
 */
export async function startSession(args: CliArgs, environment: Environment): Promise<StartedSession> {
  const { place, open } = await prepareSessions(args, environment);
  return open(openStore(args, place));
}

/** Reads the configuration. Throws ConfigError or UsageError. */
export async function prepareSessions(args: CliArgs, environment: Environment): Promise<SessionFactory> {
  const configuration = await readConfiguration(args, environment);
  checkUsable(configuration, environment);
  const { cwd, userHome } = environment;
  const setting = configuration.settings.sessionDir;
  const sessionsDir = sessionsDirectory(args, { setting, home: configuration.paths.sessions, cwd, userHome });
  const processes = sessionProcesses();
  return {
    configuration,
    place: { cwd, sessionsDir },
    async open(store, inUse) {
      try {
        return await assemble({ args, environment, configuration, processes, store, inUse });
      } catch (error) {
        store.close();
        throw error;
      }
    },
  };
}

interface Parts {
  readonly args: CliArgs;
  readonly environment: Environment;
  readonly configuration: Configuration;
  readonly processes: SessionProcesses;
  readonly store: SessionStore;
  readonly inUse: ModelInUse | undefined;
}

async function assemble(parts: Parts): Promise<StartedSession> {
  const { args, environment, configuration, processes, store, inUse } = parts;
  const { registry, settings } = configuration;
  const warnings = [...(inUse ? [] : [...configuration.warnings, ...nothingContinued(args, store)]), ...store.warnings];
  const warn = (text: string) => void warnings.push(text);
  const { model, thinkingLevel } = await startingChoice(parts, warn);
  const cwd = workingDirectory(store, environment.cwd);
  const logicalCwd = cwd === environment.cwd ? environment.logicalCwd : cwd;
  const resources = findResources(args, { cwd: logicalCwd, environment, configuration });
  const { tools, toolEnvironment, secrets } = makeTools({
    args,
    environment,
    configuration,
    resources,
    cwd,
    logicalCwd,
  });
  const toolNames = tools.map(({ name }) => name);
  const { sections } = await makeSystemPrompt({ args, environment, resources, cwd: logicalCwd, toolNames });
  const mistakes = new Set<string>();
  const session = await createAgentSession({
    cwd,
    model,
    thinkingLevel,
    tools,
    // An instruction file may hold a key (R143).
    systemPrompt: { sections: secretMask(secrets())(sections) },
    store,
    streamFn: notingMistakes(withCredentials(stream, registry), mistakes),
    findModel: (provider, id) => registry.find(provider, id),
    // The session switches it; a compactor that is off could not be switched on.
    compactor: createCompactor({ ...settings.compaction, enabled: true }),
    userCommands: async (command, io) => {
      await processes.load();
      return createUserCommandRunner(toolEnvironment)(command, io);
    },
    secrets,
    keepWhole: (text, toolCallId) => keepText(toolEnvironment.tempDir, `result-${toolCallId}`, text),
    settings: await sessionSettings({ configuration, environment, oneShot: args.mode !== "rpc", warn }),
    onDispose: () => processes.end(),
  });
  session.setAutoCompaction(settings.compaction.enabled);
  session.subscribe(processes.onEvent);
  const name = inUse ? undefined : args.texts.name?.[0];
  if (name !== undefined) session.setName(name);
  warnings.push(...resources.warnings);
  const isMistake = (errorMessage: string) => mistakes.has(errorMessage);
  const { maxSeconds } = settings.limits;
  const told = { warnings, isMistake, maxSeconds };
  return { session, store, model, resources, tools, toolEnvironment, ...told, endNow: processes.kill };
}

/** A key that is the output of a command is asked for with the request: only then a broken one shows. */
function notingMistakes(streamFn: StreamFn, mistakes: Set<string>): StreamFn {
  return async (...request) => {
    try {
      return await streamFn(...request);
    } catch (error) {
      if (error instanceof ConfigError) mistakes.add(error.message);
      throw error;
    }
  };
}

async function startingChoice(parts: Parts, warn: (text: string) => void): Promise<ModelInUse> {
  const { args, configuration, store, inUse } = parts;
  const { registry, settings } = configuration;
  const recorded = store.choice();
  if (!inUse) {
    const choice = await chooseModel({ args, registry, settings, recorded: recorded.model, warn });
    return { model: choice.model, thinkingLevel: thinkingLevel(args, configuration, choice, recorded.thinkingLevel) };
  }
  const model = await recordedModel({ registry, recorded: recorded.model, warn });
  return { model: model ?? inUse.model, thinkingLevel: levelNamed(recorded.thinkingLevel) ?? inUse.thinkingLevel };
}

/** Parts of the design that are not built yet must not look as if they worked. */
function checkUsable({ settings, paths }: Configuration, { depth }: Environment): void {
  const { mode } = settings.permission;
  if (mode !== "yolo") {
    throw new ConfigError(
      `${paths.settings}: permission mode "${mode}" is not available yet in this version; remove it`,
    );
  }
  if (depth > settings.limits.maxDepth) {
    throw new ConfigError(
      `this is tau inside tau, ${depth} deep, and the limit is ${settings.limits.maxDepth}: do the task here, or raise limits.maxDepth`,
    );
  }
}

/** `--thinking`, the suffix of the model's name, what the session had, the setting; off for a model without it. */
function thinkingLevel(
  args: CliArgs,
  { settings }: Configuration,
  choice: ModelChoice,
  recorded: string | undefined,
): ThinkingLevel {
  const flag = args.texts.thinking?.[0];
  const wanted = flag ?? choice.thinkingLevel ?? recorded ?? settings.defaultThinkingLevel;
  const level = levelNamed(wanted) ?? settings.defaultThinkingLevel;
  return choice.model.reasoning ? level : "off";
}

function levelNamed(name: string | undefined): ThinkingLevel | undefined {
  return THINKING_LEVELS.find((each) => each === name);
}
