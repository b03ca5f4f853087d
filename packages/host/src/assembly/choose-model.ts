import { knownApis, type Model, type ProviderConfig } from "@tau/llm";
import { ConfigError, configError } from "../settings/config-error.ts";
import { discoverLocalServers, LOCAL_SERVERS } from "../settings/local-servers.ts";
import type { ModelChoice, ModelRegistry } from "../settings/model-registry.ts";
import type { Settings } from "../settings/settings.ts";
import type { Configuration } from "./configuration.ts";
import type { ModelRequest } from "./input.ts";

export interface ModelQuestion {
  readonly request: ModelRequest;
  readonly registry: ModelRegistry;
  readonly settings: Settings;
  /** What the session was using, when one is continued. */
  readonly recorded: { readonly provider: string; readonly modelId: string } | undefined;
  /** Finds local servers; they are asked on loopback only, which does not count as network (--offline allows it). */
  discover?(): Promise<Record<string, ProviderConfig>>;
  /** Gets a line about a choice that is not the one that was asked for. */
  warn(text: string): void;
}

/**
 * The model to start with: the one that is asked for, that of the session, of the settings, the first one with a key, or one of a
 * local server. It has a key when it needs one. Throws ConfigError with the remedy.
 */
export async function chooseModel(question: ModelQuestion): Promise<ModelChoice> {
  const { request, registry } = question;
  const { name: pattern, provider, apiKey: key } = request;
  if (key !== undefined && pattern === undefined && provider === undefined) {
    throw configError("key_without_model", {});
  }
  if (pattern === undefined && provider === undefined) return defaultChoice(question);
  const find = async () =>
    pattern === undefined
      ? firstOf(question, provider ?? "")
      : withKey(await registry.resolve({ pattern, provider }), registry, key);
  return find().catch(async (error: unknown) => {
    // It may be of a local server that nobody wrote down.
    if (!mayBeLocal(request, error) || !(await discover(question))) throw error;
    return find();
  });
}

/** A local server by its name, or a model by its id alone that nobody else has. */
function mayBeLocal({ name = "", provider }: ModelRequest, error: unknown): boolean {
  const server = provider ?? name.slice(0, Math.max(0, name.indexOf("/")));
  if (LOCAL_SERVERS.some(({ id }) => id === server)) return true;
  return (
    provider === undefined && !name.includes("/") && error instanceof ConfigError && error.code === "model_unknown"
  );
}

/** What a new session begins with when nothing is asked for; undefined when nothing can be used. */
export async function defaultModel({
  registry,
  settings,
}: Pick<Configuration, "registry" | "settings">): Promise<Model | undefined> {
  const question = { request: {}, registry, settings, recorded: undefined, warn: () => undefined };
  return chooseModel({ ...question, discover: async () => ({}) }).then(
    ({ model }) => model,
    (error: unknown) => {
      if (error instanceof ConfigError) return undefined;
      throw error;
    },
  );
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
  warn(`the session's model ${recorded.provider}/${recorded.modelId} cannot be used now; another one continues it`);
  return undefined;
}

async function withKey(choice: ModelChoice, registry: ModelRegistry, key: string | undefined): Promise<ModelChoice> {
  if (key !== undefined) registry.useKey(choice.model.provider, key);
  const problem = await registry.keyProblem(choice.model.provider);
  if (problem !== undefined) throw problem;
  const { provider, id, api } = choice.model;
  if (!knownApis().includes(api)) {
    throw configError("api_unknown", { model: `${provider}/${id}`, api, known: knownApis() });
  }
  return choice;
}

/** The model of a provider to begin with; that of the settings where they are about this provider. */
async function firstOf({ registry, settings, request }: ModelQuestion, provider: string): Promise<ModelChoice> {
  const { defaultProvider, defaultModel } = settings;
  const own =
    defaultProvider === provider && defaultModel !== undefined
      ? await registry.find(provider, defaultModel)
      : undefined;
  return withKey({ model: own ?? (await registry.preferred(provider)) }, registry, request.apiKey);
}

async function defaultChoice(question: ModelQuestion): Promise<ModelChoice> {
  const { registry, settings } = question;
  const { defaultProvider: provider, defaultModel: pattern } = settings;
  const recorded = await recordedModel(question);
  if (recorded) return { model: recorded };
  const inherited = await inheritedModel(question);
  if (inherited) return withKey({ model: inherited }, registry, undefined);
  if (pattern !== undefined) {
    return withKey(await registry.resolve({ pattern, provider }).catch(blameSetting), registry, undefined);
  }
  if (provider !== undefined) return firstOf(question, provider).catch(blameSetting);
  const model =
    (await registry.firstUsable()) ?? ((await discover(question)) ? await registry.firstUsable() : undefined);
  if (model) return withKey({ model }, registry, undefined);
  throw configError("no_model", {});
}

/** Says that a name which nobody typed stands in the settings. */
function blameSetting(error: unknown): never {
  if (!(error instanceof ConfigError)) throw error;
  const { failure } = error;
  if (failure.code === "model_unknown")
    throw configError("model_unknown", { ...failure.params, setting: "defaultModel" });
  if (failure.code === "provider_unknown") {
    throw configError("provider_unknown", { ...failure.params, setting: "defaultProvider" });
  }
  throw error;
}

/** The model of the tau above, when it can be used here. */
async function inheritedModel({ registry, request }: ModelQuestion): Promise<Model | undefined> {
  const { inherited } = request;
  const model = inherited && (await registry.find(inherited.provider, inherited.modelId));
  return model && (await registry.missingKey(model.provider)) === undefined ? model : undefined;
}

/** Looks for local servers. True when it found some. */
async function discover({ registry, discover = discoverLocalServers }: ModelQuestion): Promise<boolean> {
  const found = await discover();
  registry.addProviders(found);
  return Object.keys(found).length > 0;
}
