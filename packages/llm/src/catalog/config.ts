import type { BodyFields, Compat, Model, ModelCost, ThinkingLevel } from "../protocol/model.ts";

/** One model of a models.json; each absent field has the default of `createCatalog`. */
export interface ModelConfig {
  id: string;
  name?: string;
  api?: string;
  baseUrl?: string;
  reasoning?: boolean;
  thinkingLevelMap?: Partial<Record<ThinkingLevel, string | null>>;
  input?: Model["input"];
  /** US dollars a million tokens. */
  cost?: Partial<ModelCost>;
  /** Tokens. Default 128,000. */
  contextWindow?: number;
  /** Largest output in tokens. Default 16,384. */
  maxTokens?: number;
  headers?: Record<string, string>;
  samplingParams?: BodyFields;
  samplingParamsByThinkingLevel?: Partial<Record<ThinkingLevel, BodyFields>>;
  compat?: Compat;
}

/**
 * One provider of a models.json. Under the name of a built-in provider it changes that one: its address, headers and
 * compat hold for its built-in models too, `models` adds or replaces models. Any other name is a new provider, which
 * needs `baseUrl` and, on it or on each model, `api`.
 */
export interface ProviderConfig {
  /** For people. */
  name?: string;
  baseUrl?: string;
  api?: string;
  /** A literal, "$ENV", "${ENV}" or "!command"; see `resolveKey`. */
  apiKey?: string;
  /** Values may be written like `apiKey`; see `resolveHeaders`. */
  headers?: Record<string, string>;
  /** The key goes out as `Authorization: Bearer` instead of the header of the API. */
  authHeader?: boolean;
  compat?: Compat;
  models?: ModelConfig[];
  /** Changes of built-in models by id; `cost` and `compat` field by field. */
  modelOverrides?: Record<string, Omit<ModelConfig, "id">>;
}
