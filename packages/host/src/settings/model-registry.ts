import type { Compat, Model } from "@tau/llm";
import type { AuthFile, Credential } from "./auth-file.ts";
import { ConfigError } from "./config-error.ts";
import type { ModelEntry, ProviderEntry } from "./models-file.ts";
import { isSecretSet, resolveSecretValue, type SecretValue, variablesOf } from "./secret-value.ts";

/** A provider that tau knows without any file. */
export interface BuiltinProvider {
  readonly id: string;
  readonly name: string;
  /** Variables that hold its key, the preferred one first. */
  readonly keyVariables: readonly string[];
  /** Works without a key: the scripted model. */
  readonly keyless?: boolean;
  readonly models: readonly Model[];
}

export interface RegistryOptions {
  /** Of models.json; for one id the first counts, so a trusted project's file comes before the user's. */
  readonly providers: readonly ProviderEntry[];
  readonly authFile: AuthFile;
  readonly variables: Readonly<Record<string, string>>;
  /** Loads the generated catalog, when first needed: it is large. */
  loadBuiltin(): Promise<readonly BuiltinProvider[]>;
}

/** What a request of a model needs besides the model. */
export interface RequestCredentials {
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface KnownModel {
  readonly model: Model;
  readonly headers: Readonly<Record<string, SecretValue>>;
}

/** All models that this user can name, from the catalog and models.json, and the keys to reach them. */
export class ModelRegistry {
  readonly #options: RegistryOptions;
  readonly #entries = new Map<string, ProviderEntry>();
  /** `--api-key`, bound to one provider: no other host must ever see it (R030). */
  #givenKey: { readonly provider: string; readonly key: string } | undefined;
  #builtin: Promise<ReadonlyMap<string, BuiltinProvider>> | undefined;

  constructor(options: RegistryOptions) {
    this.#options = options;
    this.addProviders(options.providers);
  }

  /** Adds providers, such as local servers that were found; those that are there already win. */
  addProviders(entries: readonly ProviderEntry[]): void {
    for (const entry of entries) if (!this.#entries.has(entry.id)) this.#entries.set(entry.id, entry);
  }

  /** Uses a key that was given by hand for one provider, before all others it may have. */
  useKey(provider: string, key: string): void {
    this.#givenKey = { provider, key };
  }

  /** The model of exactly this name; the catalog is loaded only when models.json does not define it whole. */
  async find(provider: string, id: string): Promise<Model | undefined> {
    return (await this.#known(provider, id))?.model;
  }

  /** Every model, in the order: models.json, found servers, catalog. */
  async all(): Promise<Model[]> {
    const builtin = await this.#builtins();
    const ids = new Set([...this.#entries.keys(), ...builtin.keys()]);
    return [...ids].flatMap((id) => providerModels(this.#entries.get(id), builtin.get(id)));
  }

  /** Models that could be asked now: their provider has a key, or needs none. */
  async available(): Promise<Model[]> {
    const all = await this.all();
    const usable = new Map<string, boolean>();
    for (const { provider } of all) {
      if (!usable.has(provider)) usable.set(provider, (await this.missingKey(provider)) === undefined);
    }
    return all.filter(({ provider }) => usable.get(provider));
  }

  /** Undefined when the provider can be asked; else what is missing and how to give it, for an error message. */
  async missingKey(provider: string): Promise<string | undefined> {
    const { authFile, variables } = this.#options;
    if (this.#givenKey?.provider === provider || authFile.credentials[provider]) return undefined;
    const entry = this.#entries.get(provider);
    if (entry?.apiKey) {
      if (isSecretSet(entry.apiKey, variables)) return undefined;
      const names = variablesOf(entry.apiKey).filter((name) => !variables[name]);
      return `${entry.source} takes the key of "${provider}" from ${names.join(", ")}, which is not set: export it`;
    }
    const builtin = (await this.#builtins()).get(provider);
    if (!builtin || builtin.keyless || builtin.keyVariables.some((name) => variables[name])) return undefined;
    const variable = builtin.keyVariables[0];
    const ways = [
      ...(variable ? [`set ${variable}`] : []),
      "give --api-key",
      `or add {"${provider}": {"type": "api_key", "key": "…"}} to ${authFile.path}`,
    ];
    return `there is no key for "${provider}": ${ways.join(", ")}`;
  }

  /** Key and headers of a request, made at the time of the request. Throws ConfigError that says what is missing. */
  async credentials(model: Model): Promise<RequestCredentials> {
    const apiKey = await this.#apiKey(model.provider);
    const known = await this.#known(model.provider, model.id);
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(known?.headers ?? {})) {
      headers[name] = await this.#resolve(value, model.provider, `headers.${name}`);
    }
    if (apiKey !== undefined && this.#entries.get(model.provider)?.authHeader)
      headers.authorization = `Bearer ${apiKey}`;
    return { ...(apiKey !== undefined && { apiKey }), ...(Object.keys(headers).length > 0 && { headers }) };
  }

  /** Variables that models.json reads keys from: commands of a model must not see them (R142). */
  secretVariables(): string[] {
    const values = [...this.#entries.values()].flatMap((entry) => [
      ...(entry.apiKey ? [entry.apiKey] : []),
      ...Object.values(entry.headers ?? {}),
      ...entry.models.flatMap((model) => Object.values(model.headers ?? {})),
    ]);
    return values.flatMap(variablesOf);
  }

  /** Keys that stand in files or were given by hand: tools must not show them (R143). */
  literalKeys(): string[] {
    const saved = Object.values(this.#options.authFile.credentials);
    const values = [...this.#entries.values()].flatMap((entry) => (entry.apiKey ? [entry.apiKey] : []));
    return [
      ...[...values, ...saved.flatMap((each) => (each.type === "api_key" ? [each.key] : []))].flatMap(literalOf),
      ...saved.flatMap((each) => (each.type === "oauth" ? [each.access, ...(each.refresh ? [each.refresh] : [])] : [])),
      ...(this.#givenKey ? [this.#givenKey.key] : []),
    ];
  }

  async #apiKey(provider: string): Promise<string | undefined> {
    const { authFile, variables } = this.#options;
    if (this.#givenKey?.provider === provider) return this.#givenKey.key;
    const saved = authFile.credentials[provider];
    if (saved) return this.#savedKey(provider, saved);
    const key = this.#entries.get(provider)?.apiKey;
    if (key) return this.#resolve(key, provider, "apiKey");
    const builtin = (await this.#builtins()).get(provider);
    const variable = builtin?.keyVariables.find((name) => variables[name]);
    return variable === undefined ? undefined : variables[variable];
  }

  async #savedKey(provider: string, saved: Credential): Promise<string> {
    const { authFile, variables } = this.#options;
    if (saved.type === "api_key")
      return resolveSecretValue(saved.key, { variables, where: `${authFile.path}: ${provider}` });
    if (saved.expires > Date.now()) return saved.access;
    throw new ConfigError(`the sign-in of "${provider}" in ${authFile.path} has expired; sign in again or set a key`);
  }

  #resolve(value: SecretValue, provider: string, field: string): Promise<string> {
    const source = this.#entries.get(provider)?.source ?? "models.json";
    return resolveSecretValue(value, {
      variables: this.#options.variables,
      where: `${source}: providers.${provider}.${field}`,
    });
  }

  async #known(provider: string, id: string): Promise<KnownModel | undefined> {
    const entry = this.#entries.get(provider);
    const own = entry?.models.find((model) => model.id === id);
    const whole = own && (own.baseUrl ?? entry?.baseUrl) !== undefined && (own.api ?? entry?.api) !== undefined;
    const builtin = whole ? undefined : (await this.#builtins()).get(provider);
    const model = whole && entry ? ownModel(entry, own) : providerModels(entry, builtin).find((each) => each.id === id);
    if (!model) return undefined;
    return { model, headers: { ...entry?.headers, ...own?.headers } };
  }

  #builtins(): Promise<ReadonlyMap<string, BuiltinProvider>> {
    this.#builtin ??= this.#options
      .loadBuiltin()
      .then((list) => new Map(list.map((provider) => [provider.id, provider])));
    return this.#builtin;
  }
}

/** The models of one provider: its own ones first, then the catalog's with the file's changes. */
function providerModels(entry: ProviderEntry | undefined, builtin: BuiltinProvider | undefined): Model[] {
  if (!entry) return [...(builtin?.models ?? [])];
  const sample = builtin?.models[0];
  const own = entry.models.map((model) => ownModel(withDefaults(entry, sample), model));
  const ownIds = new Set(own.map(({ id }) => id));
  const rest = (builtin?.models ?? []).filter(({ id }) => !ownIds.has(id)).map((model) => overridden(model, entry));
  return [...own, ...rest];
}

/** A model that is added to a built-in provider speaks its API at its address. */
function withDefaults(entry: ProviderEntry, sample: Model | undefined): ProviderEntry {
  if (!sample) return entry;
  return { ...entry, baseUrl: entry.baseUrl ?? sample.baseUrl, api: entry.api ?? sample.api };
}

/** The text of a value that reads no variable and runs nothing. */
function literalOf(value: SecretValue): string[] {
  if (value.kind === "command" || variablesOf(value).length > 0) return [];
  return [value.parts.map((part) => ("text" in part ? part.text : "")).join("")];
}

/** Window and output of a model that does not say, as the ecosystem has them. */
const DEFAULT_WINDOW = 128_000;
const DEFAULT_MAX_TOKENS = 16_384;

function ownModel(entry: ProviderEntry, own: ModelEntry): Model {
  const baseUrl = own.baseUrl ?? entry.baseUrl;
  const api = own.api ?? entry.api;
  const place = `${entry.source}: providers.${entry.id}`;
  if (baseUrl === undefined)
    throw new ConfigError(`${place}.baseUrl is missing: give the URL of the API, such as http://127.0.0.1:8080/v1`);
  if (api === undefined)
    throw new ConfigError(`${place}.api is missing: give the API it speaks, such as openai-completions`);
  const compat = mergedCompat(entry.compat, own.compat);
  return {
    id: own.id,
    name: own.name ?? own.id,
    api,
    provider: entry.id,
    baseUrl,
    reasoning: own.reasoning ?? false,
    ...(own.thinkingLevelMap && { thinkingLevelMap: own.thinkingLevelMap }),
    input: [...(own.input ?? ["text"])],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, ...own.cost },
    contextWindow: own.contextWindow ?? DEFAULT_WINDOW,
    maxTokens: own.maxTokens ?? DEFAULT_MAX_TOKENS,
    ...(compat && { compat }),
  };
}

/** A model of the catalog with what the file says about it and about its provider. */
function overridden(model: Model, entry: ProviderEntry): Model {
  const change = entry.modelOverrides[model.id] ?? {};
  const { headers: _headers, input, cost, compat: _compat, thinkingLevelMap, ...plain } = change;
  const compat = mergedCompat(mergedCompat(model.compat, entry.compat), change.compat);
  return {
    ...model,
    ...(entry.baseUrl !== undefined && { baseUrl: entry.baseUrl }),
    ...(entry.api !== undefined && { api: entry.api }),
    ...plain,
    ...(input && { input: [...input] }),
    cost: { ...model.cost, ...cost },
    ...(thinkingLevelMap && { thinkingLevelMap: { ...model.thinkingLevelMap, ...thinkingLevelMap } }),
    ...(compat && { compat }),
  };
}

function mergedCompat(base: Compat | undefined, over: Compat | undefined): Compat | undefined {
  return base || over ? { ...base, ...over } : undefined;
}
