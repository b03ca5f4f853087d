import type { Environment, SessionSettings } from "@tau/host";
import type { Model, NetworkSettings } from "@tau/llm";
import type { Configuration } from "./configuration.ts";

export interface SettingsQuestion {
  readonly configuration: Configuration;
  readonly environment: Environment;
  /** The process runs its prompts and ends: its time is that of the runs, the wait for stdin included. */
  readonly oneShot: boolean;
  /** Told of a fallback model that cannot be used. */
  warn(text: string): void;
}

/** The settings of a session out of those of the program. */
export async function sessionSettings(question: SettingsQuestion): Promise<SessionSettings> {
  const { configuration, environment, oneShot, warn } = question;
  const { settings } = configuration;
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
    fallbackModels: await fallbackModels(configuration, warn),
    timeouts: settings.timeouts,
    network: networkSettings(environment.network, settings.httpProxy),
  };
}

async function fallbackModels({ settings, registry }: Configuration, warn: (text: string) => void): Promise<Model[]> {
  const models: Model[] = [];
  for (const pattern of settings.fallbackModels) {
    try {
      const { model } = await registry.resolve({ pattern });
      const problem = (await registry.missingKey(model.provider)) ?? (await registry.unusableKey(model.provider));
      if (problem === undefined) models.push(model);
      else warn(`fallback model ${pattern} is left out: ${problem}`);
    } catch (error) {
      warn(`fallback model ${pattern} is left out: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return models;
}

/** The variables of the shell win over the setting. */
function networkSettings(network: NetworkSettings, proxy: string | undefined): NetworkSettings {
  return proxy === undefined ? network : { httpProxy: proxy, httpsProxy: proxy, ...network };
}
