import type { Model } from "../protocol/model.ts";
import type { StreamOptions } from "../protocol/request.ts";

const SECRET_NAME = /auth|key|token|secret|cookie|passw|cred|signature/i;
// Long, without a space, of letters and digits mixed: nobody writes such a word by hand.
const OPAQUE = /^(?=.*\d)(?=.*[a-z])[^\s/:;,]{16,}$/i;
const PUBLIC_NAMES: ReadonlySet<string> = new Set([
  "accept",
  "anthropic-beta",
  "anthropic-version",
  "content-type",
  "openai-beta",
  "user-agent",
]);

/**
 * What of request headers must not be shown: the values of those that are secret by their name,
 * or whose value looks like a key; of `Bearer x` also the `x` alone.
 */
export function headerSecrets(headers: Readonly<Record<string, string>> = {}): string[] {
  const secret = ([name, value]: [string, string]) =>
    !PUBLIC_NAMES.has(name.toLowerCase()) && (SECRET_NAME.test(name) || OPAQUE.test(value));
  return Object.entries(headers)
    .filter(secret)
    .flatMap(([, value]) => [value, ...value.split(/\s+/).slice(1)]);
}

/** What of a request must not be shown when its answer is an error. */
export function requestSecrets(model: Pick<Model, "headers">, { apiKey, headers }: StreamOptions): string[] {
  return [...(apiKey ? [apiKey] : []), ...headerSecrets({ ...model.headers, ...headers })];
}
