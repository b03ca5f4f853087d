import {
  type Catalog,
  createCatalog,
  ENVIRONMENT_KEYS,
  environmentKey,
  type FindOptions,
  type FoundKey,
  headerSecrets,
  knownSecretNames,
  type MissingKey,
  type Model,
  type ModelLookup,
  type ModelProblem,
  type ProviderConfig,
  resolveHeaders,
  resolveKey,
  type SnapshotData,
  type ThinkingLevel,
} from "@tau/llm";
import { childVariables } from "../platform/child-variables.ts";
import { nearNames } from "../platform/near-names.ts";
import { secretMask } from "../platform/secret-mask.ts";
import { urlSecrets } from "../platform/url-secrets.ts";
import type { AuthFile } from "./auth-file.ts";
import { type ConfigError, configError } from "./config-error.ts";
import { headerTextProblem } from "./header-text.ts";
import type { UserModels } from "./models-file.ts";
import { runSecretCommand } from "./secret-command.ts";
import { isCommand, isLiteral } from "./secret-text.ts";
import { LEVELS } from "./settings-table.ts";

export interface RegistryOptions {
  readonly models: UserModels;
  readonly auth: AuthFile;
  readonly variables: Readonly<Record<string, string>>;
  /** Default: the one that ships with tau, loaded when first needed. */
  readonly snapshot?: () => Promise<SnapshotData>;
}

/** `provider/id[:thinking]`, an id, or a part of a name; `provider` looks at this one only. */
export interface ModelName {
  readonly pattern: string;
  readonly provider?: string | undefined;
}

export interface ModelChoice {
  readonly model: Model;
  /** Set when the name carried a level: `provider/id:high`. */
  readonly thinkingLevel?: ThinkingLevel;
}

/** What a request of a model needs besides the model. */
export interface RequestCredentials {
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Whether a pattern is the whole name of a model, not a part of it. */
function isNamed({ provider, id }: Model, pattern: string): boolean {
  const name = pattern.toLowerCase();
  return name === id.toLowerCase() || name === `${provider}/${id}`.toLowerCase();
}

/** So many models of a provider are all named to a user who asked for none of them. */
const FEW = 5;

const EXAMPLES = { baseUrl: "http://127.0.0.1:8080/v1", api: "openai-completions" } as const;

/** All models that this user can name, from the catalog and models.json, and the keys to reach them. */
export class ModelRegistry {
  readonly #options: RegistryOptions;
  #providers: Readonly<Record<string, ProviderConfig>>;
  #catalog: Catalog;
  /** Keys and secret headers of requests so far. */
  readonly #found = new Set<string>();
  /** `--api-key`, bound to one provider: no other host must ever see it (R030). */
  #givenKey: { readonly provider: string; readonly key: string } | undefined;

  constructor(options: RegistryOptions) {
    this.#options = options;
    this.#providers = options.models.providers;
    this.#catalog = this.#newCatalog();
  }

  /** Adds providers that were found at run time, such as local servers; those of models.json win. */
  addProviders(found: Readonly<Record<string, ProviderConfig>>): void {
    this.#providers = { ...found, ...this.#providers };
    this.#catalog = this.#newCatalog();
  }

  /** Uses a key that was given by hand for one provider, before all others it may have. */
  useKey(provider: string, key: string): void {
    this.#givenKey = { provider, key };
  }

  get givenKey(): { readonly provider: string; readonly key: string } | undefined {
    return this.#givenKey;
  }

  /** The model of exactly this name. */
  async find(provider: string, id: string): Promise<Model | undefined> {
    const found = await this.#catalog.find(id, { provider });
    return "model" in found && found.model.id === id && found.warning === undefined ? found.model : undefined;
  }

  /** The model that a user means. Throws ConfigError with near names; the catalog is loaded only when it is needed. */
  async resolve({ pattern, provider }: ModelName): Promise<ModelChoice> {
    if (provider !== undefined) await this.#checkProvider(provider);
    const usable = (name: string) => this.#seemsUsable(name);
    const options = { ...(provider !== undefined && { provider }), usable };
    const found = await this.#catalog.find(pattern, options);
    await this.#checkLevel(pattern, { found, options });
    if ("problem" in found) throw await this.#explain(found, { pattern, provider });
    if (found.warning !== undefined) throw await this.#unknown(pattern, found.model.provider);
    return found;
  }

  /** The model of a provider to begin with. Throws ConfigError for a provider that is not known. */
  async preferred(provider: string): Promise<Model> {
    await this.#checkProvider(provider);
    const model = await this.#catalog.preferred(provider);
    if (!model) throw configError("provider_empty", { file: this.#sourceOf(provider), provider });
    return model;
  }

  /** The first provider that could be asked now, and its model to begin with. The script is none. */
  async firstUsable(): Promise<Model | undefined> {
    for (const provider of await this.#catalog.providers()) {
      if (provider === "scripted" || (await this.missingKey(provider)) !== undefined) continue;
      const model = await this.#catalog.preferred(provider);
      if (model) return model;
    }
    return undefined;
  }

  /** Every model, the user's first. */
  all(): Promise<Model[]> {
    return this.#catalog.list();
  }

  /** Models that fit a search, best first; all for an empty one. */
  search(query: string): Promise<Model[]> {
    return this.#catalog.search(query);
  }

  /** Models that could be asked now: their provider has a key, or needs none. */
  async available(): Promise<Model[]> {
    const all = await this.all();
    const usable = new Map<string, boolean>();
    for (const provider of new Set(all.map((model) => model.provider))) {
      usable.set(provider, (await this.missingKey(provider)) === undefined);
    }
    return all.filter(({ provider }) => usable.get(provider));
  }

  /**
   * Undefined when the provider can be asked, as far as that is known without running a command; else the failure that
   * says what is missing and how to give it.
   */
  async missingKey(provider: string): Promise<ConfigError | undefined> {
    const sources = this.#sources(provider);
    if (this.#isKeyless(provider) || [sources.configured, sources.stored?.key].some((text) => isCommand(text ?? ""))) {
      return undefined;
    }
    const found = await resolveKey(sources);
    return "unusable" in found ? this.#missingKey(provider, found) : undefined;
  }

  /** Undefined when the provider's key, as far as it is known without running a command, can be sent. */
  async unusableKey(provider: string): Promise<ConfigError | undefined> {
    const found = await resolveKey(this.#sources(provider));
    return "unusable" in found ? undefined : this.#keyProblem(provider, found);
  }

  /** Why the provider cannot be asked, as far as that is known without running a command. */
  async keyProblem(provider: string): Promise<ConfigError | undefined> {
    return (await this.missingKey(provider)) ?? (await this.unusableKey(provider));
  }

  /**
   * Key and headers of a request, made at the time of the request; the signal ends the commands for them. Throws
   * ConfigError that says what is missing.
   */
  async credentials(model: Model, signal?: AbortSignal): Promise<RequestCredentials> {
    const { variables } = this.#options;
    const { provider } = model;
    const runCommand = (command: string) => runSecretCommand(command, { variables, signal });
    const key = await resolveKey({ ...this.#sources(provider), runCommand });
    if ("unusable" in key && !this.#isKeyless(provider)) throw this.#missingKey(provider, key);
    const unusable = "key" in key ? this.#keyProblem(provider, key) : undefined;
    if (unusable !== undefined) throw unusable;
    const headers = await this.#headers(model, runCommand);
    const sent = { ...headers, ...("headers" in key && key.headers) };
    for (const secret of [...("key" in key ? [key.key] : []), ...headerSecrets(sent)]) this.#found.add(secret);
    return { ...("key" in key && { apiKey: key.key }), ...(Object.keys(sent).length > 0 && { headers: sent }) };
  }

  async #headers(model: Model, runCommand: (command: string) => Promise<string>): Promise<Record<string, string>> {
    const environment = this.#options.variables;
    const { headers, problems } = await resolveHeaders(model.headers ?? {}, { environment, runCommand });
    const file = this.#sourceOf(model.provider);
    for (const { header, reason } of problems) {
      throw configError("header_unresolved", { file, header, reason: this.#masked(reason) });
    }
    for (const [header, text] of Object.entries(headers)) {
      const reason = headerTextProblem(text);
      if (reason !== undefined) throw configError("header_unsendable", { file, header, reason });
    }
    return headers;
  }

  /** Variables that hold keys: commands of a model must not see them. */
  secretVariables(): string[] {
    const models = Object.values(this.#providers).flatMap((provider) => provider.models ?? []);
    const parts = Object.fromEntries(
      models.map((model, index) => [`model ${index}`, { headers: model.headers ?? {} }]),
    );
    return knownSecretNames({ ...parts, ...this.#providers });
  }

  /**
   * Keys and secret headers that stand in files, were given by hand, or were found for a request so far (the output of
   * a command, say): tools must not show them.
   */
  literalKeys(): string[] {
    const configured = Object.values(this.#providers).flatMap((provider) => {
      const parts = [provider, ...(provider.models ?? []), ...Object.values(provider.modelOverrides ?? {})];
      const secrets = parts.flatMap(({ headers, baseUrl }) => [...headerSecrets(headers), ...urlSecrets(baseUrl)]);
      return [provider.apiKey ?? "", ...secrets];
    });
    return [
      ...configured.filter((text) => text !== "" && isLiteral(text)).map((text) => text.replace(/^(?=\$\$|!!)./, "")),
      ...this.#options.auth.secrets,
      ...(this.#givenKey ? [this.#givenKey.key] : []),
      ...this.#found,
    ];
  }

  #newCatalog(): Catalog {
    const { snapshot } = this.#options;
    return createCatalog({ userProviders: this.#providers, ...(snapshot && { snapshot }) });
  }

  #sources(provider: string) {
    const config = this.#providers[provider];
    return {
      provider,
      environment: this.#options.variables,
      option: this.#givenKey?.provider === provider ? this.#givenKey.key : undefined,
      stored: this.#options.auth.credentials[provider],
      configured: config?.apiKey,
      authHeader: config?.authHeader,
    };
  }

  #missingKey(provider: string, { unusable, variable }: MissingKey): ConfigError {
    const authFile = this.#options.auth.path;
    const problems = unusable.map(({ source, reason }) => ({ place: source, reason: this.#masked(reason) }));
    return configError("key_missing", { provider, unusable: problems, variable, authFile });
  }

  /** What keeps a key from being sent, and where it stands. */
  #keyProblem(provider: string, { key, source }: Pick<FoundKey, "key" | "source">): ConfigError | undefined {
    const reason = headerTextProblem(key);
    if (reason === undefined) return undefined;
    const places = {
      "--api-key": source,
      "auth.json": this.#options.auth.path,
      "models.json": this.#sourceOf(provider),
      environment: environmentKey(provider, this.#options.variables)?.name ?? source,
    };
    return configError("key_unsendable", { provider, place: places[source], reason });
  }

  /** The script, and a server of the user's own for which nobody wrote down a key. */
  #isKeyless(provider: string): boolean {
    if (provider === "scripted") return true;
    if (Object.hasOwn(ENVIRONMENT_KEYS, provider)) return false;
    // One that is written down is meant to be sent, and that it cannot be had must be reported.
    if (this.#options.auth.credentials[provider]?.key !== undefined) return false;
    const config = this.#providers[provider];
    return config?.baseUrl !== undefined && config.apiKey === undefined && config.models !== undefined;
  }

  /** Quick, for the choice between providers that have the same id. */
  #seemsUsable(provider: string): boolean {
    const { option, stored, configured } = this.#sources(provider);
    const hasKey = option ?? stored ?? configured ?? environmentKey(provider, this.#options.variables);
    return hasKey !== undefined || this.#isKeyless(provider);
  }

  /** `gpt-4o:hgh` is a mistyped level, also where the whole fits a part of another model's name. */
  async #checkLevel(pattern: string, { found, options }: { found: ModelLookup; options: FindOptions }): Promise<void> {
    const at = pattern.lastIndexOf(":");
    const isSure = "model" in found && found.warning === undefined;
    if (at < 1 || (isSure && (found.thinkingLevel !== undefined || isNamed(found.model, pattern)))) return;
    const name = pattern.slice(0, at);
    const whole = await this.#catalog.find(name, options);
    if (!("model" in whole) || whole.warning !== undefined || !isNamed(whole.model, name)) return;
    throw configError("level_unknown", { name, level: pattern.slice(at + 1), known: LEVELS });
  }

  async #checkProvider(provider: string): Promise<void> {
    if (Object.hasOwn(this.#providers, provider)) return;
    const known = await this.#catalog.providers();
    if (known.includes(provider)) return;
    throw configError("provider_unknown", { name: provider, near: nearNames(provider, known) });
  }

  /** A problem of the user's own file gets the file's name, any other the near names. */
  async #explain({ lacks }: ModelProblem, { pattern, provider }: ModelName): Promise<ConfigError> {
    const named = provider ?? pattern.slice(0, Math.max(0, pattern.indexOf("/")));
    if (lacks !== undefined) {
      const file = this.#sourceOf(named);
      return configError("provider_incomplete", { file, provider: named, field: lacks, example: EXAMPLES[lacks] });
    }
    const known = (await this.#catalog.providers()).includes(named);
    return this.#unknown(pattern, known ? named : undefined);
  }

  async #unknown(pattern: string, provider: string | undefined): Promise<ConfigError> {
    const models = await this.#catalog.list(provider);
    const names = models.map((model) => `${model.provider}/${model.id}`);
    const fits = names.filter((name) => name.toLowerCase().includes(pattern.toLowerCase()));
    if (fits.length > 1) return configError("model_ambiguous", { name: pattern, fits });
    const ids = models.map(({ id }) => id);
    const found = [nearNames(pattern, names), nearNames(pattern, ids)].find((near) => near.length > 0);
    return configError("model_unknown", { name: pattern, near: found ?? (names.length <= FEW ? names : []) });
  }

  #sourceOf(provider: string): string {
    return this.#options.models.sources[provider] ?? "models.json";
  }

  /** A command that fails may say the secret it was about. */
  #masked(problem: string): string {
    const { variables } = this.#options;
    const { secrets } = childVariables({ variables, secretNames: this.secretVariables(), depth: 0 });
    return secretMask([...secrets, ...this.literalKeys()])(problem);
  }
}
