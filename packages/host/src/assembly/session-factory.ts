import { CHANNEL_VARIABLE, nameMatcher, secretVariableTest } from "../platform/child-variables.ts";
import type { Environment } from "../platform/environment.ts";
import { hideInOwnMemory } from "../platform/own-memory.ts";
import { keepYoungGenerationSmall } from "../platform/young-generation.ts";
import type { ModelInUse } from "../session/session-host.ts";
import { configError } from "../settings/config-error.ts";
import type { SessionStore } from "../store/session-store.ts";
import { type AssembledSession, assemble } from "./assemble.ts";
import { type Configuration, readConfiguration } from "./configuration.ts";
import { handOn } from "./hand-on.ts";
import type { AssemblyInput } from "./input.ts";
import {
  folderNotices,
  nothingContinued,
  openStore,
  type StorePlace,
  sessionsDirectory,
  workingDirectory,
} from "./open-store.ts";
import { type SessionProcesses, sessionProcesses } from "./session-processes.ts";

/** Makes sessions from one input and one configuration. */
export interface SessionFactory {
  readonly configuration: Configuration;
  readonly place: StorePlace;
  /** Opens or makes the session that is asked for. Throws ConfigError, or an error of the store. */
  openStore(): SessionStore;
  /**
   * Makes a session on an open store, which is closed when that fails. The first one has what the input says, one that
   * follows it what its file says, else what was in use. Throws ConfigError with its remedy.
   */
  open(store: SessionStore, inUse?: ModelInUse): Promise<AssembledSession>;
  /** Kills what the tools of all its sessions started, for an end that cannot wait. */
  endNow(): void;
}

/** Reads the configuration for a program that has the process to itself. Throws ConfigError. */
export async function prepareSessions(given: AssemblyInput, base: Environment): Promise<SessionFactory> {
  const inherited = base.variables[CHANNEL_VARIABLE] ? await inheritFrom(given, base) : undefined;
  const { input, environment } = inherited ?? { input: given, environment: base };
  const read = await readConfiguration(input, environment);
  const configuration = inherited?.tighten(read) ?? read;
  checkUsable(configuration, environment);
  hideSecrets(input, configuration, environment);
  const request = input.session ?? {};
  const sessionsDir = sessionsDirectory(request, configuration, environment);
  const place = { cwd: environment.cwd, sessionsDir };
  const all: SessionProcesses[] = [];
  const open = async (store: SessionStore, inUse?: ModelInUse): Promise<AssembledSession> => {
    const works = workingDirectory(store, environment.cwd);
    const handed = handOn(environment);
    const processes = sessionProcesses({
      async onLoad() {
        keepYoungGenerationSmall();
        await handed.open();
      },
      onEnd: handed.close,
    });
    all.push(processes);
    try {
      const assembled = await assemble({
        input,
        environment,
        foundation: configuration,
        store,
        cwd: works,
        own: {},
        processes,
        inUse,
        addedVariables: { [CHANNEL_VARIABLE]: handed.path },
      });
      handed.serve(assembled.session, configuration.registry);
      const notices = [
        ...nothingContinued(request, store),
        ...folderNotices(request, store, { cwd: environment.cwd, works }),
      ];
      const early = inUse ? [] : [...configuration.warnings, ...notices];
      return { ...assembled, warnings: [...early, ...store.warnings, ...assembled.warnings] };
    } catch (error) {
      store.close();
      throw error;
    }
  };
  return {
    configuration,
    place,
    openStore: () => openStore(request, place),
    open,
    endNow: () => {
      for (const processes of all) processes.kill();
    },
  };
}

/** Loaded only by a tau that another one started. */
async function inheritFrom(input: AssemblyInput, environment: Environment) {
  const { inherit } = await import("./inheritance.ts");
  return inherit(input, environment);
}

/** All that is needed was read by now; commands of a model could read it in the process list (R309). */
function hideSecrets({ model }: AssemblyInput, { registry, settings }: Configuration, { handedNames }: Environment) {
  const isSecret = secretVariableTest([...registry.secretVariables(), ...(handedNames ?? [])]);
  const isKept = nameMatcher(settings.keepEnv);
  hideInOwnMemory({
    isSecret: (name) => isSecret(name) && !isKept(name),
    words: model?.apiKey ? [model.apiKey] : [],
  });
}

/** Parts of the design that are not built yet must not look as if they worked. */
function checkUsable({ settings, paths }: Configuration, { depth }: Environment): void {
  const { mode } = settings.permission;
  if (mode !== "yolo") throw configError("mode_not_built", { path: paths.settings, mode });
  const limit = settings.limits.maxDepth;
  if (depth > limit) throw configError("nested_too_deep", { depth, limit });
}
