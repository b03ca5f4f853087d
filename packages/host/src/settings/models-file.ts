import type { Compat, ModelConfig, ModelCost, ProviderConfig } from "@tau/llm";
import { ConfigError } from "./config-error.ts";
import { isObject, type JsonObject, readJsonFile } from "./json-file.ts";
import { normalSecret } from "./secret-text.ts";

/** The providers of one or more models.json files, and the file each one stands in. */
export interface UserModels {
  readonly providers: Readonly<Record<string, ProviderConfig>>;
  readonly sources: Readonly<Record<string, string>>;
}

/**
 * Reads models.json files; for a provider that is in several the first one counts, so a trusted project's file is
 * given before the user's. Throws ConfigError that names file, field and remedy; unknown fields are left alone.
 */
export async function readModelsFiles(paths: readonly string[]): Promise<UserModels> {
  const providers: Record<string, ProviderConfig> = {};
  const sources: Record<string, string> = {};
  for (const path of paths) {
    const file = await readJsonFile(path);
    const at = new Field(path, "");
    if (file && file.providers === undefined && Object.keys(file).some((key) => key !== "$schema")) {
      throw at.sub("providers").error('is missing; put the providers inside {"providers": { … }}');
    }
    for (const [id, value] of Object.entries(at.object(file?.providers, "providers") ?? {})) {
      const provider = readProvider(value, at.sub(`providers.${id}`));
      if (Object.hasOwn(providers, id)) continue;
      providers[id] = provider;
      sources[id] = path;
    }
  }
  return { providers, sources };
}

function readProvider(value: unknown, at: Field): ProviderConfig {
  if (!isObject(value)) throw at.error("must be an object");
  const models = readModels(value.models, at);
  const modelOverrides = readOverrides(value.modelOverrides, at);
  return defined({
    name: at.text(value.name, "name"),
    baseUrl: at.url(value.baseUrl, "baseUrl"),
    api: at.text(value.api, "api"),
    apiKey: at.secret(value.apiKey, "apiKey"),
    headers: at.secrets(value.headers, "headers"),
    authHeader: at.bool(value.authHeader, "authHeader"),
    compat: at.object(value.compat, "compat") as Compat | undefined,
    models: models.length > 0 ? models : undefined,
    modelOverrides: Object.keys(modelOverrides).length > 0 ? modelOverrides : undefined,
  });
}

function readModels(value: unknown, at: Field): ModelConfig[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw at.sub("models").error("must be a list of models");
  return value.map((item: unknown, index) => {
    // A bare id is what people write first.
    if (typeof item === "string" && item !== "") return { id: item };
    const place = at.sub(`models[${index}]`);
    if (!isObject(item)) throw place.error('must be an object with an "id"');
    if (typeof item.id !== "string" || item.id === "") throw place.sub("id").error("is missing; give the model's id");
    return { id: item.id, ...readModelFields(item, place) };
  });
}

function readOverrides(value: unknown, at: Field): Record<string, Omit<ModelConfig, "id">> {
  const overrides: Record<string, Omit<ModelConfig, "id">> = {};
  for (const [id, item] of Object.entries(at.object(value, "modelOverrides") ?? {})) {
    const place = at.sub(`modelOverrides.${id}`);
    if (!isObject(item)) throw place.error("must be an object");
    overrides[id] = readModelFields(item, place);
  }
  return overrides;
}

function readModelFields(item: JsonObject, at: Field): Omit<ModelConfig, "id"> {
  return defined({
    name: at.text(item.name, "name"),
    api: at.text(item.api, "api"),
    baseUrl: at.url(item.baseUrl, "baseUrl"),
    reasoning: at.bool(item.reasoning, "reasoning"),
    thinkingLevelMap: at.object(item.thinkingLevelMap, "thinkingLevelMap") as ModelConfig["thinkingLevelMap"],
    input: at.input(item.input),
    cost: at.cost(item.cost),
    contextWindow: at.count(item.contextWindow, "contextWindow"),
    maxTokens: at.count(item.maxTokens, "maxTokens"),
    headers: at.secrets(item.headers, "headers"),
    compat: at.object(item.compat, "compat") as Compat | undefined,
  });
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function defined<T extends object>(value: T): Defined<T> {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as Defined<T>;
}

/** A place in the file; each reader gives the value, or undefined when it is absent, or throws with the place. */
class Field {
  readonly #file: string;
  readonly #path: string;

  constructor(file: string, path: string) {
    this.#file = file;
    this.#path = path;
  }

  sub(name: string): Field {
    return new Field(this.#file, this.#path === "" ? name : `${this.#path}.${name}`);
  }

  error(what: string): ConfigError {
    return new ConfigError(`${this.#file}: ${this.#path} ${what}`);
  }

  text(value: unknown, name: string): string | undefined {
    if (value === undefined || value === null) return undefined;
    if (typeof value !== "string" || value === "") throw this.sub(name).error("must be a text that is not empty");
    return value;
  }

  bool(value: unknown, name: string): boolean | undefined {
    if (value === undefined || value === null) return undefined;
    if (typeof value !== "boolean") throw this.sub(name).error("must be true or false");
    return value;
  }

  count(value: unknown, name: string): number | undefined {
    if (value === undefined || value === null) return undefined;
    if (typeof value !== "number" || !(value > 0)) throw this.sub(name).error("must be a number of tokens above 0");
    return Math.floor(value);
  }

  object(value: unknown, name: string): JsonObject | undefined {
    if (value === undefined || value === null) return undefined;
    if (!isObject(value)) throw this.sub(name).error("must be an object");
    return value;
  }

  url(value: unknown, name: string): string | undefined {
    const text = this.text(value, name);
    if (text === undefined) return undefined;
    // A file URL is the script of a scripted model.
    if (!/^(https?:\/\/[^/\s]|file:\/\/\/)/i.test(text)) {
      throw this.sub(name).error(`must be a URL such as http://127.0.0.1:11434/v1, not "${text}"`);
    }
    return text.replace(/\/+$/, "");
  }

  secret(value: unknown, name: string): string | undefined {
    const text = this.text(value, name);
    return text === undefined ? undefined : normalSecret(text);
  }

  secrets(value: unknown, name: string): Record<string, string> | undefined {
    const headers = this.object(value, name);
    if (!headers) return undefined;
    const out: Record<string, string> = {};
    for (const [header, text] of Object.entries(headers)) {
      if (typeof text !== "string") throw this.sub(`${name}.${header}`).error("must be a text");
      out[header] = normalSecret(text);
    }
    return out;
  }

  input(value: unknown): ("text" | "image")[] | undefined {
    if (value === undefined || value === null) return undefined;
    const kinds = Array.isArray(value) ? value.filter((kind) => kind === "text" || kind === "image") : [];
    if (!Array.isArray(value) || kinds.length !== value.length) {
      throw this.sub("input").error('must be a list of "text" and "image"');
    }
    return kinds;
  }

  cost(value: unknown): Partial<ModelCost> | undefined {
    const given = this.object(value, "cost");
    if (!given) return undefined;
    const out: Partial<ModelCost> = {};
    for (const part of ["input", "output", "cacheRead", "cacheWrite"] as const) {
      const price = given[part];
      if (price === undefined || price === null) continue;
      if (typeof price !== "number" || !(price >= 0)) {
        throw this.sub(`cost.${part}`).error("must be a price in dollars a million tokens");
      }
      out[part] = price;
    }
    return out;
  }
}
