import type { Compat, ModelConfig, ProviderConfig } from "@tau/llm";
import { isObject, type JsonObject, readJsonFile } from "./json-file.ts";
import { Field } from "./models-field.ts";
import { MODEL_FIELDS, PROVIDER_FIELDS, UnusedFields } from "./unused-fields.ts";

/** The providers of one or more models.json files, and the file each one stands in. */
export interface UserModels {
  readonly providers: Readonly<Record<string, ProviderConfig>>;
  readonly sources: Readonly<Record<string, string>>;
  /** One line for each name of a field that tau does not use. */
  readonly warnings: readonly string[];
}

/**
 * Reads models.json files; for a provider that is in several the first one counts, so a trusted project's file is
 * given before the user's. Throws ConfigError that names file, field and remedy; fields that are not used are named in `warnings`.
 */
export async function readModelsFiles(paths: readonly string[]): Promise<UserModels> {
  const providers: Record<string, ProviderConfig> = {};
  const sources: Record<string, string> = {};
  const warnings: string[] = [];
  for (const path of paths) {
    const file = await readJsonFile(path);
    const at = new Field(path, "");
    const unused = new UnusedFields(path);
    if (file && file.providers === undefined && Object.keys(file).some((key) => key !== "$schema")) {
      throw at.sub("providers").error('is missing; put the providers inside {"providers": { … }}');
    }
    for (const [id, value] of Object.entries(at.object(file?.providers, "providers") ?? {})) {
      if (id === "" || id.includes("/")) {
        throw at.sub("providers").error(`has "${id}", which cannot be the name of a provider; give it one without "/"`);
      }
      const provider = readProvider(value, at.sub(`providers.${id}`), unused);
      if (id !== "scripted") checkScripts(provider, at.sub(`providers.${id}`));
      if (Object.hasOwn(providers, id)) continue;
      providers[id] = provider;
      sources[id] = path;
    }
    warnings.push(...unused.warnings());
  }
  return { providers, sources, warnings };
}

function readProvider(value: unknown, at: Field, unused: UnusedFields): ProviderConfig {
  if (!isObject(value)) throw at.error("must be an object");
  checkSpelling(value, at, PROVIDER_FIELDS);
  unused.look(value, at.path, PROVIDER_FIELDS);
  const models = readModels(value.models, at, unused);
  const modelOverrides = readOverrides(value.modelOverrides, at, unused);
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

/** A field in other letters, such as `baseURL` or `api_key`, is what was meant: without it nothing else makes sense. */
function checkSpelling(value: JsonObject, at: Field, known: readonly string[]): void {
  for (const name of Object.keys(value)) {
    const meant = known.find((each) => each !== name && plain(each) === plain(name));
    if (meant === undefined || Object.hasOwn(value, meant)) continue;
    throw at.sub(name).error(`is not a field of models.json; write it "${meant}"`);
  }
}

const plain = (name: string) => name.toLowerCase().replace(/[_-]/g, "");

/** A file is the address of a script; no other API can ask one. */
function checkScripts({ baseUrl, api, models = [] }: ProviderConfig, at: Field): void {
  const parts = models.length > 0 ? models : [{}];
  for (const part of parts as readonly Partial<ModelConfig>[]) {
    if (!/^file:/i.test(part.baseUrl ?? baseUrl ?? "") || (part.api ?? api) === "scripted") continue;
    throw at.sub("baseUrl").error('is a file; give the URL of a server, or "api": "scripted" for a script');
  }
}

function readModels(value: unknown, at: Field, unused: UnusedFields): ModelConfig[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw at.sub("models").error("must be a list of models");
  return value.map((item: unknown, index) => {
    // A bare id is what people write first.
    if (typeof item === "string" && item !== "") return { id: item };
    const place = at.sub(`models[${index}]`);
    if (!isObject(item)) throw place.error('must be an object with an "id"');
    if (typeof item.id !== "string" || item.id === "") throw place.sub("id").error("is missing; give the model's id");
    checkSpelling(item, place, MODEL_FIELDS);
    unused.look(item, place.path, MODEL_FIELDS);
    return { id: item.id, ...readModelFields(item, place) };
  });
}

function readOverrides(value: unknown, at: Field, unused: UnusedFields): Record<string, Omit<ModelConfig, "id">> {
  const overrides: Record<string, Omit<ModelConfig, "id">> = {};
  for (const [id, item] of Object.entries(at.object(value, "modelOverrides") ?? {})) {
    const place = at.sub(`modelOverrides.${id}`);
    if (!isObject(item)) throw place.error("must be an object");
    unused.look(item, place.path, MODEL_FIELDS);
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
    samplingParams: at.object(item.samplingParams, "samplingParams"),
    samplingParamsByThinkingLevel: at.objects(item.samplingParamsByThinkingLevel, "samplingParamsByThinkingLevel"),
    compat: at.object(item.compat, "compat") as Compat | undefined,
  });
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function defined<T extends object>(value: T): Defined<T> {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as Defined<T>;
}
