import { ENVIRONMENT_KEYS, knownSecretNames, type ProviderConfig } from "@tau/llm";
import { secretVariableTest } from "../platform/child-variables.ts";
import type { UserModels } from "./models-file.ts";
import { isCommand } from "./secret-text.ts";

/** What is the user's own, and must not be sent where a project says. */
export interface OwnPlaces {
  /** Of the home's models.json. */
  readonly models: UserModels;
  /** Providers that auth.json has keys for. */
  readonly stored: readonly string[];
  /** Whether a provider comes with tau. */
  readonly isBuiltIn: (provider: string) => boolean;
}

/**
 * The providers of a trusted project beside those of the user. A project may add providers; it may not move one that
 * holds a key of the user's, nor send such a key: a key belongs to the place that it was set for (R310, R323).
 */
export function withProjectModels(project: UserModels, own: OwnPlaces): UserModels {
  const isSecret = secretVariableTest(knownSecretNames(own.models.providers));
  const problems = new Map<string, string>();
  for (const [id, provider] of Object.entries(project.providers)) {
    const problem = isTaken(id, own) ? "it is one of yours or of tau's" : keyProblem(provider, isSecret);
    if (problem !== undefined) problems.set(id, problem);
  }
  const added = Object.entries(project.providers).filter(([id]) => !problems.has(id));
  const warnings = [...problems].map(
    ([id, problem]) =>
      `${project.sources[id]}: the provider "${id}" is left out: ${problem}; set it up in your own models.json`,
  );
  return {
    providers: { ...Object.fromEntries(added), ...own.models.providers },
    sources: { ...project.sources, ...own.models.sources },
    warnings: [...project.warnings, ...own.models.warnings, ...warnings],
  };
}

function isTaken(id: string, { models, stored, isBuiltIn }: OwnPlaces): boolean {
  return (
    Object.hasOwn(models.providers, id) || stored.includes(id) || Object.hasOwn(ENVIRONMENT_KEYS, id) || isBuiltIn(id)
  );
}

function keyProblem(provider: ProviderConfig, isSecret: (name: string) => boolean): string | undefined {
  const parts = [provider, ...(provider.models ?? []), ...Object.values(provider.modelOverrides ?? {})];
  const texts = [provider.apiKey ?? "", ...parts.flatMap(({ headers = {} }) => Object.values(headers))];
  if (texts.some(isCommand)) return "a project gives no command for a key";
  const names = texts.flatMap((text) => [...text.matchAll(/\$\{?([A-Za-z_]\w*)/g)].map(([, name = ""]) => name));
  const secret = names.find(isSecret);
  return secret === undefined ? undefined : `it would be sent ${secret}, which is a key of yours`;
}
