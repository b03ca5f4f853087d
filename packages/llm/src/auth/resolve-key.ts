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

/** One line that says why there is no key and how to give one. */
export interface MissingKey {
  problem: string;
}

/** The key of a provider: `--api-key`, auth.json, models.json, environment, the first that there is. */
export async function resolveKey(sources: KeySources): Promise<FoundKey | MissingKey> {
  const context = withStoredVariables(sources);
  const written = [
    { source: "--api-key", text: undefined, literal: sources.option?.trim() },
    { source: "auth.json", text: sources.stored?.key, literal: undefined },
    { source: "models.json", text: sources.configured, literal: undefined },
  ] as const;
  const problems: string[] = [];
  for (const { source, text, literal } of written) {
    if (literal) return found({ key: literal, source }, sources);
    if (!text) continue;
    const secret = await resolveSecret(text, context);
    if ("value" in secret) return found({ key: secret.value, source }, sources);
    problems.push(`the one in ${source} cannot be used: ${secret.problem}`);
  }
  const variable = environmentKey(sources.provider, context.environment);
  const key = variable && context.environment[variable.name]?.trim();
  if (key)
    return found({ key, source: "environment" }, { ...sources, authHeader: variable.bearer ?? sources.authHeader });
  return { problem: missing(sources.provider, problems) };
}

function withStoredVariables({ environment, runCommand, stored }: KeySources): SecretContext {
  return { environment: { ...environment, ...stored?.env }, ...(runCommand ? { runCommand } : {}) };
}

function found(key: Pick<FoundKey, "key" | "source">, { authHeader }: Pick<KeySources, "authHeader">): FoundKey {
  return authHeader ? { ...key, headers: { authorization: `Bearer ${key.key}` } } : key;
}

function missing(provider: string, problems: readonly string[]): string {
  const known = Object.hasOwn(ENVIRONMENT_KEYS, provider) ? ENVIRONMENT_KEYS[provider] : undefined;
  const variables = known?.filter(({ name }) => name.endsWith("_KEY") || known.length === 1).map(({ name }) => name);
  const ways = [
    ...(variables?.[0] ? [`set ${variables[0]}`] : []),
    ...[`give --api-key`, `add "${provider}" to auth.json or its apiKey to models.json`],
  ];
  return `No API key for "${provider}"${problems.map((problem) => `; ${problem}`).join("")}. To mend it: ${ways.join(", or ")}.`;
}

/**
 * Request headers with the secrets in their values resolved. A header whose value cannot be had is left out and told.
 */
export async function resolveHeaders(
  headers: Readonly<Record<string, string>>,
  context: SecretContext,
): Promise<{ headers: Record<string, string>; problems: string[] }> {
  const resolved: Record<string, string> = {};
  const problems: string[] = [];
  for (const [name, text] of Object.entries(headers)) {
    const secret = await resolveSecret(text, context);
    if ("value" in secret) resolved[name] = secret.value;
    else problems.push(`The header ${name} is not sent: ${secret.problem}.`);
  }
  return { headers: resolved, problems };
}

/** What of models.json may name variables that hold secrets. */
interface WrittenSecrets {
  apiKey?: string;
  headers?: Readonly<Record<string, string>>;
}

/**
 * Names of the environment variables that hold keys of providers, by the table and as the user's models.json names
 * them: what is taken out of the environment of commands (R142).
 */
export function knownSecretNames(userProviders: Readonly<Record<string, WrittenSecrets>> = {}): string[] {
  const listed = Object.values(ENVIRONMENT_KEYS).flatMap((keys) => keys.map(({ name }) => name));
  const named = Object.values(userProviders).flatMap(({ apiKey, headers = {} }) =>
    [apiKey ?? "", ...Object.values(headers)].flatMap(secretVariables),
  );
  return [...new Set([...listed, ...named])];
}
