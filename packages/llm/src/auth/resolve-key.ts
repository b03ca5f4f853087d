import { ENVIRONMENT_KEYS, environmentKey } from "./environment-keys.ts";
import { resolveSecret, type SecretContext, secretVariables } from "./secret-text.ts";

/** An entry of auth.json, of the kinds that need no refresh. Others are passed over here. */
export interface StoredCredential {
  type: string;
  key?: string;
  /** Variables that hold for this provider before those of the process. */
  env?: Record<string, string>;
}

/** Where the key of one provider may come from, in the order in which they are asked. */
export interface KeySources extends SecretContext {
  provider: string;
  /** `--api-key`. */
  option?: string | undefined;
  /** The provider's entry of auth.json. */
  stored?: StoredCredential | undefined;
  /** `apiKey` of the provider in models.json. */
  configured?: string | undefined;
  /** `authHeader` of the provider in models.json. */
  authHeader?: boolean | undefined;
}

export interface FoundKey {
  key: string;
  source: "--api-key" | "auth.json" | "models.json" | "environment";
  /** Headers to send instead of the API's own for a key. */
  headers?: Record<string, string>;
}

/** Why a provider has no key: the configured keys that cannot be used, and the variable that would give one. */
export interface MissingKey {
  unusable: { source: WrittenSource; reason: string }[];
  /** Absent for a provider that has no variable of its own. */
  variable?: string;
}

/** Where a key may be written down. */
export type WrittenSource = "auth.json" | "models.json";

/** The key of a provider: `--api-key`, auth.json, models.json, environment, the first that there is. */
export async function resolveKey(sources: KeySources): Promise<FoundKey | MissingKey> {
  const context = withStoredVariables(sources);
  const option = sources.option?.trim();
  if (option) return found({ key: option, source: "--api-key" }, sources);
  const written = [
    { source: "auth.json", text: sources.stored?.key },
    { source: "models.json", text: sources.configured },
  ] as const;
  const unusable: MissingKey["unusable"] = [];
  for (const { source, text } of written) {
    if (!text) continue;
    const secret = await resolveSecret(text, context);
    if ("value" in secret) return found({ key: secret.value, source }, sources);
    unusable.push({ source, reason: secret.problem });
  }
  const variable = environmentKey(sources.provider, context.environment);
  const key = variable && context.environment[variable.name]?.trim();
  if (key)
    return found({ key, source: "environment" }, { ...sources, authHeader: variable.bearer ?? sources.authHeader });
  const missing = variableFor(sources.provider);
  return { unusable, ...(missing !== undefined && { variable: missing }) };
}

function withStoredVariables({ environment, runCommand, stored }: KeySources): SecretContext {
  return { environment: { ...environment, ...stored?.env }, ...(runCommand ? { runCommand } : {}) };
}

function found(key: Pick<FoundKey, "key" | "source">, { authHeader }: Pick<KeySources, "authHeader">): FoundKey {
  return authHeader ? { ...key, headers: { authorization: `Bearer ${key.key}` } } : key;
}

/** The variable to name to a user: one that holds an API key, where there are several. */
function variableFor(provider: string): string | undefined {
  const known = Object.hasOwn(ENVIRONMENT_KEYS, provider) ? ENVIRONMENT_KEYS[provider] : undefined;
  return known?.find(({ name }) => name.endsWith("_KEY") || known.length === 1)?.name;
}

/**
 * Request headers with the secrets in their values resolved. A header whose value cannot be had is left out and is
 * among the problems.
 */
export async function resolveHeaders(
  headers: Readonly<Record<string, string>>,
  context: SecretContext,
): Promise<{ headers: Record<string, string>; problems: { header: string; reason: string }[] }> {
  const resolved: Record<string, string> = {};
  const problems: { header: string; reason: string }[] = [];
  for (const [name, text] of Object.entries(headers)) {
    const secret = await resolveSecret(text, context);
    if ("value" in secret) resolved[name] = secret.value;
    else problems.push({ header: name, reason: secret.problem });
  }
  return { headers: resolved, problems };
}

/** What of models.json may name variables that hold secrets. */
export interface WrittenSecrets {
  apiKey?: string;
  headers?: Readonly<Record<string, string>>;
}

/**
 * Names of the environment variables that hold keys of providers, by the table and as the user's models.json names
 * them: what is taken out of the environment of commands.
 */
export function knownSecretNames(userProviders: Readonly<Record<string, WrittenSecrets>> = {}): string[] {
  const listed = Object.values(ENVIRONMENT_KEYS).flatMap((keys) => keys.map(({ name }) => name));
  const named = Object.values(userProviders).flatMap(({ apiKey, headers = {} }) =>
    [apiKey ?? "", ...Object.values(headers)].flatMap(secretVariables),
  );
  return [...new Set([...listed, ...named])];
}
