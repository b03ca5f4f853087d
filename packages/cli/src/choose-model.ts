import {
  ConfigError,
  discoverLocalServers,
  LOCAL_SERVERS,
  type ModelChoice,
  type ModelRegistry,
  type Settings,
} from "@tau/host";
import { knownApis, type Model, type ProviderConfig } from "@tau/llm";
import type { CliArgs } from "./arguments/args.ts";
import { UsageError } from "./arguments/usage-error.ts";

export interface ModelQuestion {
  readonly args: CliArgs;
  readonly registry: ModelRegistry;
  readonly settings: Settings;
  /** What the session was using, when one is gone on with. */
  readonly recorded: { readonly provider: string; readonly modelId: string } | undefined;
  /** Finds local servers; they are asked on loopback only, which is no network (--offline allows it). */
  discover?(): Promise<Record<string, ProviderConfig>>;
  /** Told of a choice that is not the one that was asked for. */
  warn(text: string): void;
}

/**
 * The model to start with: that of the flags, of the session, of the settings, the first one with a key, or one of a
 * local server. It has a key when it needs one. Throws ConfigError or UsageError (exit 2) with the remedy.
 */
export async function chooseModel(question: ModelQuestion): Promise<ModelChoice> {
  const { args, registry } = question;
  const pattern = args.texts.model?.[0];
  const provider = args.texts.provider?.[0];
  const key = args.texts["api-key"]?.[0];
  if (key !== undefined && pattern === undefined && provider === undefined) {
    throw new UsageError("--api-key needs --model or --provider, so that the key goes to the right place");
  }
  if (pattern === undefined) return provider === undefined ? defaultChoice(question) : firstOf(question, provider);
  const name = { pattern, provider };
  const choice = await registry.resolve(name).catch(async (error: unknown) => {
    // It may be a local server that nobody wrote down.
    const server = provider ?? pattern.slice(0, Math.max(0, pattern.indexOf("/")));
    if (!LOCAL_SERVERS.some(({ id }) => id === server) || !(await discover(question))) throw error;
    return registry.resolve(name);
  });
  return withKey(choice, registry, key);
}

/** The model that a session was using, when it can be used now. */
export async function recordedModel({
  registry,
  recorded,
  warn,
}: Pick<ModelQuestion, "registry" | "recorded" | "warn">): Promise<Model | undefined> {
  if (!recorded) return undefined;
  const model = await registry.find(recorded.provider, recorded.modelId);
  if (model && (await registry.missingKey(model.provider)) === undefined) return model;
  warn(`the session's model ${recorded.provider}/${recorded.modelId} cannot be used now; another one goes on`);
  return undefined;
}

async function withKey(choice: ModelChoice, registry: ModelRegistry, key: string | undefined): Promise<ModelChoice> {
  if (key !== undefined) registry.useKey(choice.model.provider, key);
  const problem =
    (await registry.missingKey(choice.model.provider)) ?? (await registry.unusableKey(choice.model.provider));
  if (problem !== undefined) throw new ConfigError(problem);
  const { provider, id, api } = choice.model;
  if (!knownApis().includes(api)) {
    throw new ConfigError(
      `${provider}/${id} names the API "${api}", which tau does not know; set "api" in models.json to one of: ${knownApis().join(", ")}`,
    );
  }
  return choice;
}

/** The model of a provider to begin with; that of the settings where they are about this provider. */
async function firstOf({ registry, settings, args }: ModelQuestion, provider: string): Promise<ModelChoice> {
  const { defaultProvider, defaultModel } = settings;
  const own =
    defaultProvider === provider && defaultModel !== undefined
      ? await registry.find(provider, defaultModel)
      : undefined;
  return withKey({ model: own ?? (await registry.preferred(provider)) }, registry, args.texts["api-key"]?.[0]);
}

async function defaultChoice(question: ModelQuestion): Promise<ModelChoice> {
  const { registry, settings } = question;
  const { defaultProvider: provider, defaultModel: pattern } = settings;
  const recorded = await recordedModel(question);
  if (recorded) return { model: recorded };
  if (pattern !== undefined) return withKey(await registry.resolve({ pattern, provider }), registry, undefined);
  if (provider !== undefined) return firstOf(question, provider);
  const model =
    (await registry.firstUsable()) ?? ((await discover(question)) ? await registry.firstUsable() : undefined);
  if (model) return withKey({ model }, registry, undefined);
  throw new ConfigError(
    "no model is set up: set a key such as ANTHROPIC_API_KEY or OPENAI_API_KEY, start a local server (Ollama, LM Studio, " +
      "llama.cpp, vLLM), or add one to models.json; without any, `tau demo` or --model scripted/demo plays a script",
  );
}

/** Looks for local servers. True when it found some. */
async function discover({ registry, discover = discoverLocalServers }: ModelQuestion): Promise<boolean> {
  const found = await discover();
  registry.addProviders(found);
  return Object.keys(found).length > 0;
}
