import type { Model, ThinkingLevel } from "@tau/llm";
import { nearNames } from "../platform/near-names.ts";
import { ConfigError } from "./config-error.ts";
import type { ModelRegistry } from "./model-registry.ts";

export interface ModelChoice {
  readonly model: Model;
  /** Set when the name carried a level: `provider/id:high`. */
  readonly thinkingLevel: ThinkingLevel | undefined;
}

export interface ModelName {
  /** `provider/id[:thinking]`, an id, or a part of a name. */
  readonly pattern: string;
  /** Look at this provider only. */
  readonly provider?: string | undefined;
}

const LEVELS: readonly string[] = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];

/**
 * Finds the model that a user means, in this order: an exact `provider/id`, an exact id, a part of an id or a name
 * that only one model has. Among several with the same id one whose provider has a key is taken.
 * Throws ConfigError with near names, or the list to choose from.
 */
export async function resolveModel(registry: ModelRegistry, name: ModelName): Promise<ModelChoice> {
  // An id may itself hold a colon (qwen2.5-coder:7b), so the whole is tried before the suffix is taken off.
  const whole = await lookUp(registry, name.pattern, name.provider);
  if (whole) return { model: whole, thinkingLevel: undefined };
  const { base, level } = splitLevel(name.pattern);
  const model = level === undefined ? undefined : await lookUp(registry, base, name.provider);
  if (model) return { model, thinkingLevel: level };
  throw await unknownModel(registry, { ...name, pattern: base });
}

function splitLevel(pattern: string): { base: string; level: ThinkingLevel | undefined } {
  const colon = pattern.lastIndexOf(":");
  const suffix = pattern.slice(colon + 1);
  if (colon <= 0 || !LEVELS.includes(suffix)) return { base: pattern, level: undefined };
  return { base: pattern.slice(0, colon), level: suffix as ThinkingLevel };
}

async function lookUp(
  registry: ModelRegistry,
  pattern: string,
  provider: string | undefined,
): Promise<Model | undefined> {
  const exact = await exactModel(registry, pattern, provider);
  if (exact) return exact;
  const models = await candidates(registry, provider);
  const lower = pattern.toLowerCase();
  const sameId = models.filter(({ id }) => id.toLowerCase() === lower);
  if (sameId.length > 0) return oneOf(registry, sameId, pattern);
  const parts = models.filter((model) => searchText(model).includes(lower));
  return parts.length === 0 ? undefined : oneOf(registry, parts, pattern);
}

/** Without loading the catalog where models.json has the model: the path of most starts. */
async function exactModel(
  registry: ModelRegistry,
  pattern: string,
  provider: string | undefined,
): Promise<Model | undefined> {
  if (provider !== undefined) {
    const own = pattern.startsWith(`${provider}/`)
      ? await registry.find(provider, pattern.slice(provider.length + 1))
      : undefined;
    return own ?? registry.find(provider, pattern);
  }
  const slash = pattern.indexOf("/");
  return slash > 0 ? registry.find(pattern.slice(0, slash), pattern.slice(slash + 1)) : undefined;
}

async function candidates(registry: ModelRegistry, provider: string | undefined): Promise<Model[]> {
  const all = await registry.all();
  if (provider === undefined) return all;
  const own = all.filter((model) => model.provider === provider);
  if (own.length > 0) return own;
  const names = [...new Set(all.map((model) => model.provider))];
  throw new ConfigError(
    `unknown provider "${provider}"${nearText(provider, names)}; see tau --list-models, or add it to models.json`,
  );
}

function searchText({ provider, id, name }: Model): string {
  return `${provider}/${id} ${name}`.toLowerCase();
}

/** The only one, or the only one that can be asked now. */
async function oneOf(registry: ModelRegistry, models: readonly Model[], pattern: string): Promise<Model> {
  const [only, ...more] = models;
  if (only && more.length === 0) return only;
  const usable: Model[] = [];
  for (const model of models) if ((await registry.missingKey(model.provider)) === undefined) usable.push(model);
  const [first, ...others] = usable;
  if (first && others.length === 0) return first;
  const listed = (usable.length > 0 ? usable : models).map(({ provider, id }) => `${provider}/${id}`);
  const shown = listed.slice(0, 6).join(", ") + (listed.length > 6 ? ", …" : "");
  throw new ConfigError(
    `"${pattern}" fits ${listed.length} models (${shown}); give one of them as --model provider/id`,
  );
}

async function unknownModel(registry: ModelRegistry, { pattern, provider }: ModelName): Promise<ConfigError> {
  const models = await candidates(registry, provider);
  const names = models.map((model) => `${model.provider}/${model.id}`);
  const near = nearNames(pattern, names).length > 0 ? names : models.map(({ id }) => id);
  return new ConfigError(
    `unknown model "${pattern}"${nearText(pattern, near)}; see tau --list-models, or add it to models.json`,
  );
}

function nearText(name: string, candidates: readonly string[]): string {
  const near = nearNames(name, candidates);
  return near.length > 0 ? ` (near: ${near.join(", ")})` : "";
}
