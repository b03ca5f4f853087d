import type { ProviderConfig } from "@tau/llm";
import type { UserModels } from "./models-file.ts";

/** As variables are named by custom; a key does not look so. */
const VARIABLE = /^[A-Z][A-Z0-9_]{2,}$/;

/**
 * The user's models with `"apiKey": "NAME"` taken as the variable of that name where there is one, as pi takes it. Not for
 * the file of a project: it must not name a key of the user's (R323).
 */
export function withNamedVariables(models: UserModels, variables: Readonly<Record<string, string>>): UserModels {
  const resolve = (provider: ProviderConfig): ProviderConfig => {
    const { apiKey } = provider;
    const isNamed =
      apiKey !== undefined && VARIABLE.test(apiKey) && Object.hasOwn(variables, apiKey) && variables[apiKey];
    return isNamed ? { ...provider, apiKey: `$${apiKey}` } : provider;
  };
  const providers = Object.entries(models.providers).map(([id, provider]) => [id, resolve(provider)] as const);
  return { ...models, providers: Object.fromEntries(providers) };
}
