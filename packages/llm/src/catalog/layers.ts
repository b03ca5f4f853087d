import type { Model } from "../protocol/model.ts";
import type { ModelConfig, ProviderConfig } from "./config.ts";

const DEFAULT_WINDOW = 128_000;
const DEFAULT_OUTPUT = 16_384;
const FREE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** What a provider's models have in common, or why it cannot be used. */
type Endpoint = { api: string; baseUrl: string } | IncompleteProvider;

/** A provider of the user's that lacks a field without which nothing can be asked. */
export interface IncompleteProvider {
  problem: string;
  lacks: "baseUrl" | "api";
}

/**
 * The models of one provider: its built-in ones as the user's configuration changes them, then the user's own.
 * Models that lack an address or an API are left out; `endpointOf` says why.
 */
export function layerModels(provider: string, builtIn: readonly Model[], config: ProviderConfig = {}): Model[] {
  const models = new Map(builtIn.map((model) => [model.id, overridden(model, config)]));
  for (const entry of config.models ?? []) {
    const model = ownModel(provider, entry, { config, builtIn });
    if (!("problem" in model)) models.set(entry.id, model);
  }
  return [...models.values()];
}

/** A model that is in no list, with what its provider's models have in common and defaults for the rest. */
export function guessModel(provider: string, id: string, from: Layers): Model | IncompleteProvider {
  return ownModel(provider, { id }, from);
}

export interface Layers {
  config: ProviderConfig;
  builtIn: readonly Model[];
}

function endpointOf(provider: string, entry: ModelConfig, { config, builtIn }: Layers): Endpoint {
  const sample = builtIn.find(({ id }) => id === entry.id) ?? builtIn[0];
  const baseUrl = entry.baseUrl ?? config.baseUrl ?? sample?.baseUrl;
  const api = entry.api ?? config.api ?? sample?.api;
  const where = `Provider "${provider}" in models.json`;
  if (!baseUrl) return { problem: `${where} has no baseUrl; add one`, lacks: "baseUrl" };
  if (!api) return { problem: `${where} has no api; add one`, lacks: "api" };
  return { api, baseUrl: trimUrl(baseUrl) };
}

function ownModel(provider: string, entry: ModelConfig, layers: Layers): Model | IncompleteProvider {
  const endpoint = endpointOf(provider, entry, layers);
  if ("problem" in endpoint) return endpoint;
  const { config } = layers;
  const contextWindow = entry.contextWindow ?? DEFAULT_WINDOW;
  const base: Model = {
    ...{ id: entry.id, name: entry.name ?? entry.id, ...endpoint, provider, reasoning: entry.reasoning ?? false },
    ...{ input: entry.input ?? ["text"], cost: { ...FREE, ...entry.cost }, contextWindow },
    maxTokens: entry.maxTokens ?? Math.min(DEFAULT_OUTPUT, contextWindow),
    ...(entry.thinkingLevelMap ? { thinkingLevelMap: entry.thinkingLevelMap } : {}),
    ...(entry.samplingParams ? { samplingParams: entry.samplingParams } : {}),
    ...(entry.samplingParamsByThinkingLevel
      ? { samplingParamsByThinkingLevel: entry.samplingParamsByThinkingLevel }
      : {}),
  };
  return withCommon(base, config, entry);
}

function overridden(model: Model, config: ProviderConfig): Model {
  const entry = config.modelOverrides?.[model.id] ?? {};
  const { cost, compat: _compat, headers: _headers, ...rest } = entry;
  const changed: Model = {
    ...model,
    ...(config.api ? { api: config.api } : {}),
    ...(config.baseUrl ? { baseUrl: trimUrl(config.baseUrl) } : {}),
    ...rest,
    ...(cost ? { cost: { ...model.cost, ...cost } } : {}),
  };
  return withCommon(changed, config, entry);
}

/** Headers and compat of provider and model, the model's on top. */
function withCommon(model: Model, config: ProviderConfig, entry: Pick<ModelConfig, "headers" | "compat">): Model {
  const headers = { ...model.headers, ...config.headers, ...entry.headers };
  const compat = { ...model.compat, ...config.compat, ...entry.compat };
  return {
    ...model,
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    ...(Object.keys(compat).length > 0 ? { compat } : {}),
  };
}

const trimUrl = (url: string) => url.replace(/(?<!\/)\/+$/, "");
