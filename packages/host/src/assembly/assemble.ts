import { completeStream, type Model, type StreamFn, stream } from "@tau/llm";
import { runCommand } from "../commands/run-command.ts";
import { createCompactor } from "../compaction/create-compactor.ts";
import { HookBus } from "../hooks/hook-bus.ts";
import type { Environment } from "../platform/environment.ts";
import { keepText } from "../platform/kept-text.ts";
import { secretMask } from "../platform/secret-mask.ts";
import { AgentSession } from "../session/agent-session.ts";
import type { AgentSessionOptions } from "../session/options.ts";
import type { RunEnding } from "../session/run/outcome.ts";
import type { ModelInUse } from "../session/session-host.ts";
import type { ConfigError } from "../settings/config-error.ts";
import type { ModelRegistry } from "../settings/model-registry.ts";
import type { Settings } from "../settings/settings.ts";
import { type CredentialOptions, withCredentials } from "../settings/with-credentials.ts";
import type { SessionStore } from "../store/session-store.ts";
import { createUserCommandRunner } from "../tools/bash/user-command.ts";
import type { FactsOf } from "../tools/call-facts.ts";
import type { ToolEnvironment } from "../tools/definition.ts";
import type { Foundation } from "./configuration.ts";
import type { AssemblyInput } from "./input.ts";
import { makeSystemPrompt } from "./make-prompt.ts";
import { makeTools, type SessionTools } from "./make-tools.ts";
import type { OwnParts } from "./own-parts.ts";
import { findResources, type Resources } from "./resources.ts";
import type { SessionProcesses } from "./session-processes.ts";
import { mergeSettings, sessionSettings } from "./session-settings.ts";
import { startingChoice } from "./starting-choice.ts";
import { withoutImages } from "./without-images.ts";

/** A session that is ready for its first prompt, with what its front end has to know of it. */
export interface AssembledSession {
  readonly session: AgentSession;
  readonly store: SessionStore;
  readonly model: Model;
  readonly resources: Resources;
  readonly toolEnvironment: ToolEnvironment;
  /** How long the process may take, in seconds; 0 and undefined mean no limit. */
  readonly maxSeconds: number | undefined;
  /** One line each, for the user. */
  readonly warnings: readonly string[];
  /** Why the last request could not be sent, when that was a mistake of the configuration. */
  configFailure(): ConfigError | undefined;
}

/** What a session is put together from. */
export interface AssemblyPlan {
  readonly input: AssemblyInput;
  readonly environment: Environment;
  readonly foundation: Foundation;
  readonly store: SessionStore;
  /** Working directory of the session, absolute. */
  readonly cwd: string;
  /** Parts that a program made itself. */
  readonly own: OwnParts;
  readonly processes: SessionProcesses;
  /** The choice of the session before, when this one follows it in the same program. */
  readonly inUse?: ModelInUse | undefined;
  readonly words?: CredentialOptions["words"];
  /** Variables that commands get besides those of the environment. */
  readonly addedVariables?: Readonly<Record<string, string>>;
}

/**
 * Puts a session together: model, tools, prompt, keys, limits. The one place where that is done, for the command and for
 * programs. Throws ConfigError, or UnknownToolError for a tool of a program; nothing is on disk by then.
 */
export async function assemble(plan: AssemblyPlan): Promise<AssembledSession> {
  const { input, environment, foundation, store, cwd, own, inUse } = plan;
  const { registry, settings } = foundation;
  const warnings: string[] = [];
  const warn = (text: string) => void warnings.push(text);
  const { model, thinkingLevel } = await startingChoice(plan, warn);
  const variable = foundation.movedBy?.[model.provider];
  // Whoever set it long ago for another program would wonder where requests go.
  if (variable) warn(`${model.provider} is asked at ${new URL(model.baseUrl).host}, as ${variable} says`);
  const logicalCwd = cwd === environment.cwd ? environment.logicalCwd : cwd;
  const resources = findResources(input.context ?? {}, { cwd: logicalCwd, environment, foundation });
  const made = makeTools({
    request: input.tools ?? {},
    own: own.tools,
    environment,
    settings,
    layers: foundation.toolLayers,
    registry,
    resources,
    processes: plan.processes,
    addedVariables: plan.addedVariables,
    cwd,
    logicalCwd,
  });
  const sender = sendingOf(plan);
  const given = sessionSettings({ settings, registry, environment, oneShot: input.oneShot ?? false, warn });
  const session = new AgentSession(
    {
      ...passedOn(own),
      cwd,
      model,
      thinkingLevel,
      tools: made.tools,
      systemPrompt: own.systemPrompt ?? (await promptOf(plan, { made, resources, cwd: logicalCwd })),
      store,
      ...modelFinding(own, registry),
      ...compactorOf(own, settings, made.factsOf),
      ...toolServices(plan, made),
      bus: busWith(made.rows, own),
      settings: mergeSettings(await given, own.settings),
    },
    sender.streamFn,
    runCommand,
  );
  await session.dispatch({ type: "set_auto_compaction", enabled: settings.compaction.enabled });
  session.subscribe(plan.processes.onEvent);
  const name = inUse ? undefined : input.session?.name;
  if (name !== undefined) await session.dispatch({ type: "set_session_name", name });
  warnings.push(...made.warnings, ...resources.warnings);
  const { maxSeconds } = settings.limits;
  const { toolEnvironment } = made;
  const { configFailure } = sender;
  return { session, store, model, resources, toolEnvironment, maxSeconds, warnings, configFailure };
}

interface PromptParts {
  readonly made: SessionTools;
  readonly resources: Resources;
  readonly cwd: string;
}

async function promptOf({ input, environment, foundation }: AssemblyPlan, { made, resources, cwd }: PromptParts) {
  const { tools } = made;
  const request = input.context ?? {};
  const { sections } = await makeSystemPrompt({ request, foundation, environment, resources, cwd, tools });
  // An instruction file may hold a key (R143).
  return { sections: secretMask(made.secrets())(sections) };
}

/** How requests are sent: a program's own way, with its own keys, or with the keys of the registry. */
function sendingOf({ own, foundation, words }: AssemblyPlan) {
  let failure: ConfigError | undefined;
  const checked = (found: ConfigError | undefined) => {
    failure = found;
  };
  const { registry, settings } = foundation;
  const provider: StreamFn =
    registry && !own.getApiKey ? withCredentials(stream, registry, { checked, ...(words && { words }) }) : stream;
  const streamFn = own.streamFn ? completeStream(own.streamFn) : provider;
  return {
    streamFn: settings.images.blockImages ? withoutImages(streamFn) : streamFn,
    configFailure: () => failure,
  };
}

/** What a session takes as it is. */
function passedOn(own: OwnParts) {
  const { streamFn: _streamFn, models: _models, model: _model, tools: _tools, settings: _settings, ...rest } = own;
  const { compactor: _compactor, systemPrompt: _systemPrompt, store: _store, ...passed } = rest;
  return passed;
}

function modelFinding({ findModel }: OwnParts, registry: ModelRegistry | undefined) {
  if (findModel) return { findModel };
  return registry ? { findModel: (provider: string, id: string) => registry.find(provider, id) } : {};
}

function compactorOf({ compactor }: OwnParts, settings: Settings, factsOf: FactsOf) {
  if (compactor === false) return {};
  // The session switches it; a compactor that is off could not be switched on.
  return { compactor: compactor ?? createCompactor({ ...settings.compaction, enabled: true }, factsOf) };
}

function busWith(rows: SessionTools["rows"], own: OwnParts): HookBus<RunEnding> {
  const bus = own.bus ?? new HookBus<RunEnding>();
  bus.replace([], rows);
  return bus;
}

type Services = Pick<AgentSessionOptions, "userCommands" | "secrets" | "keepWhole" | "onDispose">;

function toolServices({ own, processes }: AssemblyPlan, { toolEnvironment, secrets }: SessionTools): Services {
  const given = own.secrets ?? [];
  const ownSecrets = typeof given === "function" ? given : () => given;
  return {
    async userCommands(command, io) {
      await processes.load();
      return (own.userCommands ?? createUserCommandRunner(toolEnvironment))(command, io);
    },
    secrets: () => [...secrets(), ...ownSecrets()],
    keepWhole: own.keepWhole ?? ((text, toolCallId) => keepText(toolEnvironment.tempDir, `result-${toolCallId}`, text)),
    async onDispose() {
      await processes.end();
      await own.onDispose?.();
    },
  };
}
