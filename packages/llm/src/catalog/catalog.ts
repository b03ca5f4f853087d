import type { Model, ThinkingLevel } from "../protocol/model.ts";
import type { ProviderConfig } from "./config.ts";
import { DEMO_MODEL } from "./demo-model.ts";
import { guessModel, layerModels } from "./layers.ts";
import { PREFERRED_MODELS } from "./preferred.ts";
import { nearReferences, searchModels } from "./search.ts";
import { loadSnapshot, type SnapshotData, unpackSnapshot } from "./snapshot.ts";

export interface CatalogOptions {
  /** Default: the snapshot that ships with tau, loaded when a model from it is first needed. */
  snapshot?: () => Promise<SnapshotData>;
  /** `providers` of the user's models.json. */
  userProviders?: Readonly<Record<string, ProviderConfig>>;
}

/** What a reference leads to, or one line that says why to nothing and what to do. */
export type ModelLookup = { model: Model; thinkingLevel?: ThinkingLevel; warning?: string } | ModelProblem;

/** `lacks` is the field that the user's provider of this name has to be given. */
export interface ModelProblem {
  problem: string;
  lacks?: "baseUrl" | "api";
}

export interface FindOptions {
  /** Looks in this provider only; the reference is then an id. */
  provider?: string;
  /** Decides between providers that have the same id: those that a key is known for come first. */
  usable?: (provider: string) => boolean;
}

export interface Catalog {
  /**
   * The model of a reference: `provider/id`, an id, or words that fit one model only, each with `:thinking` behind it
   * if wanted. An unknown id of a known provider gives a model with defaults and a warning.
   */
  find(reference: string, options?: FindOptions): Promise<ModelLookup>;
  /** All models, of one provider or of all, the user's providers first. */
  list(provider?: string): Promise<Model[]>;
  /** Models that fit a search, best first; see `searchModels`. */
  search(query: string): Promise<Model[]>;
  /** The model of a provider to begin with: the user's first one, else the one that the table of preferences names. */
  preferred(provider: string): Promise<Model | undefined>;
  /** Names of all providers, the user's first. */
  providers(): Promise<string[]>;
}

const LEVELS: readonly string[] = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];

/** Models that are built in, with the user's on top. */
export function createCatalog(options: CatalogOptions = {}): Catalog {
  return new LayeredCatalog(options);
}

class LayeredCatalog implements Catalog {
  readonly #user: Readonly<Record<string, ProviderConfig>>;
  readonly #load: () => Promise<SnapshotData>;
  readonly #layered = new Map<string, Model[]>();
  #builtIn: Promise<Map<string, Model[]>> | undefined;

  constructor({ snapshot = loadSnapshot, userProviders = {} }: CatalogOptions) {
    this.#load = snapshot;
    this.#user = userProviders;
  }

  async find(reference: string, options: FindOptions = {}): Promise<ModelLookup> {
    const whole = await this.#resolve(reference, options);
    if (whole && !whole.warning) return whole;
    const colon = reference.lastIndexOf(":");
    const level = colon > 0 ? asLevel(reference.slice(colon + 1)) : undefined;
    if (level === undefined) return whole ?? this.#missing(reference, options);
    const base = reference.slice(0, colon);
    const found = await this.#resolve(base, options);
    return found ? { ...found, thinkingLevel: level } : this.#missing(base, options);
  }

  async list(provider?: string): Promise<Model[]> {
    const names = provider === undefined ? await this.providers() : [provider];
    const lists = await Promise.all(names.map((name) => this.#modelsOf(name)));
    return lists.flat();
  }

  async search(query: string): Promise<Model[]> {
    return searchModels(await this.list(), query);
  }

  async preferred(provider: string): Promise<Model | undefined> {
    const own = this.#configOf(provider)?.models?.[0];
    const written = own && this.#ownModel(provider, own.id);
    if (written) return written;
    const models = await this.#modelsOf(provider);
    const preferred = Object.hasOwn(PREFERRED_MODELS, provider) ? PREFERRED_MODELS[provider] : undefined;
    const id = own?.id ?? preferred;
    return models.find((model) => model.id === id) ?? models[0];
  }

  async providers(): Promise<string[]> {
    return [...new Set([...Object.keys(this.#user), ...(await this.#builtIns()).keys()])];
  }

  /** The snapshot is only loaded for what the user's own models cannot answer. */
  async #modelsOf(provider: string): Promise<Model[]> {
    const known = this.#layered.get(provider);
    if (known) return known;
    const models = layerModels(provider, (await this.#builtIns()).get(provider) ?? [], this.#configOf(provider));
    this.#layered.set(provider, models);
    return models;
  }

  #configOf(provider: string): ProviderConfig | undefined {
    return Object.hasOwn(this.#user, provider) ? this.#user[provider] : undefined;
  }

  /** A provider by its name, also in another case when only one fits (R324). */
  async #providerNamed(name: string): Promise<string> {
    if (this.#configOf(name)) return name;
    const all = await this.providers();
    return all.includes(name) ? name : (onlyOne(all, (provider) => sameName(provider, name)) ?? name);
  }

  #builtIns(): Promise<Map<string, Model[]>> {
    this.#builtIn ??= this.#load().then((data) => {
      const models = new Map<string, Model[]>();
      for (const model of unpackSnapshot(data)) {
        const list = models.get(model.provider);
        if (list) list.push(model);
        else models.set(model.provider, [model]);
      }
      return models.set(DEMO_MODEL.provider, [DEMO_MODEL]);
    });
    return this.#builtIn;
  }

  async #resolve(reference: string, options: FindOptions): Promise<{ model: Model; warning?: string } | undefined> {
    const written = this.#split(reference, options);
    const own = written && this.#ownModel(written.provider, written.id);
    if (own) return { model: own };
    const named = written && { ...written, provider: await this.#providerNamed(written.provider) };
    if (named) {
      const exact = exactMatch(await this.#modelsOf(named.provider), named.id);
      if (exact) return { model: exact };
    }
    const byId = options.provider === undefined ? await this.#byId(reference, options) : undefined;
    if (byId) return { model: byId };
    const scope = await this.#scope(named?.provider);
    const words = named ? named.id : reference;
    const only = onlyMatch(scope, words);
    if (only) return { model: only };
    return named ? this.#guess(named.provider, named.id) : undefined;
  }

  /** `provider/id` in two, when the part before the slash is a provider. Ids may have slashes of their own. */
  #split(reference: string, { provider }: FindOptions): { provider: string; id: string } | undefined {
    if (provider !== undefined) {
      const prefix = `${provider}/`;
      const named = sameName(reference.slice(0, prefix.length), prefix);
      return { provider, id: named ? reference.slice(prefix.length) : reference };
    }
    const slash = reference.indexOf("/");
    return slash > 0 ? { provider: reference.slice(0, slash), id: reference.slice(slash + 1) } : undefined;
  }

  /** A model that the user has written out, found without the snapshot. */
  #ownModel(provider: string, id: string): Model | undefined {
    if (provider === DEMO_MODEL.provider && id === DEMO_MODEL.id && !this.#configOf(provider)) return DEMO_MODEL;
    const config = this.#configOf(provider);
    if (!config?.models?.some((model) => model.id === id)) return undefined;
    return layerModels(provider, [], config).find((model) => model.id === id);
  }

  async #byId(id: string, { usable = () => false }: FindOptions): Promise<Model | undefined> {
    const all = await this.list();
    const exact = all.filter((model) => model.id === id);
    const inOtherCase = exact.length > 0 ? [] : all.filter((model) => sameName(model.id, id));
    // One name in one spelling, of however many providers.
    const models = new Set(inOtherCase.map((model) => model.id)).size === 1 ? inOtherCase : exact;
    return (
      models.find((model) => this.#configOf(model.provider)) ??
      models.find(({ provider }) => usable(provider)) ??
      models[0]
    );
  }

  async #scope(provider: string | undefined): Promise<Model[]> {
    return provider === undefined ? this.list() : this.#modelsOf(provider);
  }

  async #guess(provider: string, id: string): Promise<{ model: Model; warning: string } | undefined> {
    const config = this.#configOf(provider);
    const builtIn = (await this.#builtIns()).get(provider);
    if (id === "" || (!config && !builtIn) || provider === DEMO_MODEL.provider) return undefined;
    const model = guessModel(provider, id, { config: config ?? {}, builtIn: builtIn ?? [] });
    if ("problem" in model) return undefined;
    const assumed = `context window ${model.contextWindow.toLocaleString("en")}, no prices`;
    return { model, warning: `${provider}/${id} is not in the list of models; it is used with defaults (${assumed}).` };
  }

  async #missing(reference: string, options: FindOptions): Promise<ModelProblem> {
    const named = this.#split(reference, options);
    const config = named ? this.#configOf(named.provider) : undefined;
    if (named && config) {
      const model = guessModel(named.provider, named.id, {
        config,
        builtIn: (await this.#builtIns()).get(named.provider) ?? [],
      });
      if ("problem" in model) return model;
    }
    const near = nearReferences(await this.list(), reference);
    const hint = near.length > 0 ? `Did you mean ${near.join(" or ")}?` : "";
    return {
      problem: [`There is no model "${reference}".`, hint, "`tau --list-models` shows all."].filter(Boolean).join(" "),
    };
  }
}

const asLevel = (text: string) => (LEVELS.includes(text) ? (text as ThinkingLevel) : undefined);

function exactMatch(models: readonly Model[], id: string): Model | undefined {
  return models.find((model) => model.id === id) ?? onlyOne(models, (model) => sameName(model.id, id));
}

const sameName = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

/** The one item that fits; undefined when none or several do. */
function onlyOne<Item>(items: readonly Item[], fits: (item: Item) => boolean): Item | undefined {
  const found = items.filter(fits);
  return found.length === 1 ? found[0] : undefined;
}

// A date at the end of an id: the same model is there under its undated name.
const DATED = /[-@:]?(20\d{6}|20\d\d-\d\d-\d\d|latest)$/;

/** The one model whose id has the words in it; dated names of one model count as one. */
function onlyMatch(models: readonly Model[], words: string): Model | undefined {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return undefined;
  const found = models.filter(({ id }) => wanted.every((word) => id.toLowerCase().includes(word)));
  const names = new Set(found.map(({ provider, id }) => `${provider}/${id.replace(DATED, "")}`));
  if (names.size !== 1) return undefined;
  return found.find(({ id }) => !DATED.test(id)) ?? found.at(-1);
}
