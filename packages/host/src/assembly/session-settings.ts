import type { Model, NetworkSettings } from "@tau/llm";
import type { Environment } from "../platform/environment.ts";
import { reasonOf } from "../platform/thrown.ts";
import type { SessionSettings } from "../session/options.ts";
import type { ModelRegistry } from "../settings/model-registry.ts";
import type { Settings } from "../settings/settings.ts";
import type { SessionSettingsInput } from "./own-parts.ts";

export interface SettingsQuestion {
  readonly settings: Settings;
  readonly registry: ModelRegistry | undefined;
  readonly environment: Environment;
  /** The process runs its prompts and ends: its time is that of the runs, the wait for stdin included. */
  readonly oneShot: boolean;
  /** Told of a fallback model that cannot be used. */
  warn(text: string): void;
}

/** The settings of a session, made from those of the files. */
export async function sessionSettings(question: SettingsQuestion): Promise<SessionSettings> {
  const { settings, registry, environment, oneShot, warn } = question;
  const { maxTurns, maxCost, maxSeconds, maxCallsPerMessage, maxDepth: _maxDepth, ...limits } = settings.limits;
  return {
    retry: settings.retry,
    budget: {
      ...(maxTurns !== undefined && { maxTurns }),
      ...(maxCost !== undefined && { maxCost }),
      // 0 stands for no limit, as in the time-out of a command.
      ...(maxSeconds && { timeoutMs: maxSeconds * 1000 }),
      ...(oneShot && { spentMs: () => performance.now() }),
    },
    limits: { ...limits, ...(maxCallsPerMessage !== undefined && { maxCallsPerMessage }) },
    steeringMode: settings.steeringMode,
    followUpMode: settings.followUpMode,
    fallbackModels: registry ? await fallbackModels(settings.fallbackModels, registry, warn) : [],
    timeouts: settings.timeouts,
    network: networkSettings(environment.network, settings.httpProxy),
  };
}

async function fallbackModels(
  names: readonly string[],
  registry: ModelRegistry,
  warn: (text: string) => void,
): Promise<Model[]> {
  const models: Model[] = [];
  for (const pattern of names) {
    try {
      const { model } = await registry.resolve({ pattern });
      const problem = await registry.keyProblem(model.provider);
      if (problem !== undefined) throw problem;
      models.push(model);
    } catch (error) {
      warn(`fallback model ${pattern} is left out: ${reasonOf(error)}`);
    }
  }
  return models;
}

/** Lays what a program gives over the settings of the program, group by group; what is undefined changes nothing. */
export function mergeSettings(base: SessionSettings, given: SessionSettingsInput = {}): SessionSettings {
  return {
    ...laidOver(base, given),
    retry: laidOver(base.retry, given.retry),
    budget: laidOver(base.budget, given.budget),
    limits: laidOver(base.limits, given.limits),
    timeouts: laidOver(base.timeouts ?? {}, given.timeouts),
    network: laidOver(base.network ?? {}, given.network),
  };
}

function laidOver<Group extends object>(base: Group, given: object = {}): Group {
  return { ...base, ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) };
}

/** The variables of the shell win over the setting. */
function networkSettings(network: NetworkSettings, proxy: string | undefined): NetworkSettings {
  return proxy === undefined ? network : { httpProxy: proxy, httpsProxy: proxy, ...network };
}
