/** Shorter values would mask ordinary words. */
const MIN_SECRET_LENGTH = 8;
export const MASK = "[secret]";

/** Gives the same value back when there was nothing to mask. */
export type MaskSecrets = <T>(value: T) => T;

const keep: MaskSecrets = (value) => value;

/**
 * Replaces the agent's own keys wherever they occur in a value (report R143): a message, a tool's output and `details`.
 * One pass over each text, whatever the number of keys; nothing at all when there are none.
 */
export function secretMask(secrets: readonly string[]): MaskSecrets {
  const known = [...new Set(secrets)].filter((secret) => secret.length >= MIN_SECRET_LENGTH && !isPlainWord(secret));
  if (known.length === 0) return keep;
  // The longer first, so that a key that begins with another one is masked whole.
  known.sort((a, b) => b.length - a.length);
  // regexp: literal texts, nothing repeats.
  const pattern = new RegExp(known.map((secret) => secret.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("|"), "g");
  return (value) => maskValue(value, pattern) as typeof value;
}

/** Words of which people make values that are not secret, such as keys for servers that want some key. */
const PLAIN_WORDS =
  /^(?:(?:no|not|none|any|anything|your|my|the|a|here|insert|change|changeme|me|replace|example|sample|default|api|key|token|secret|value|required|needed|necessary|dummy|fake|test|testing|local|localhost|unused|placeholder|sk|dev|development|prod|production|stage|staging|environment|env|server|service|enabled|disabled|true|false|null|undefined|ollama|lm|studio|lmstudio|llama|llamacpp|cpp|vllm)(?:[-_ ]|$))+$/i;

/** One word of letters as people write them: a key of that length would be no key. */
const ONE_WORD = /^(?:[a-z]{1,16}|[A-Z][a-z]{0,15}|[A-Z]{1,16})$/;

/** Such a value is not secret, and its words are those of ordinary texts (report R244). */
function isPlainWord(value: string): boolean {
  return ONE_WORD.test(value) || PLAIN_WORDS.test(value);
}

/** A mask for keys that become known one after another; `secrets` gives those that are known by now. */
export function growingSecretMask(secrets: () => readonly string[]): MaskSecrets {
  let known: readonly string[] = [];
  let mask = keep;
  return (value) => {
    const now = secrets();
    if (now.length !== known.length || now.some((secret, index) => secret !== known[index])) mask = secretMask(now);
    known = now;
    return mask(value);
  };
}

function maskValue(value: unknown, pattern: RegExp): unknown {
  if (typeof value === "string") return value.search(pattern) < 0 ? value : value.replace(pattern, MASK);
  if (Array.isArray(value)) return maskList(value, pattern);
  if (typeof value !== "object" || value === null) return value;
  // Image data is base64: a key in it could not be read, and the text is long.
  if ("type" in value && value.type === "image") return value;
  const fields = Object.entries(value);
  const masked = fields.map(([key, field]) => [key, maskValue(field, pattern)] as const);
  return masked.some(([, field], index) => field !== fields[index]?.[1]) ? Object.fromEntries(masked) : value;
}

function maskList(list: readonly unknown[], pattern: RegExp): unknown {
  const masked = list.map((item) => maskValue(item, pattern));
  return masked.some((item, index) => item !== list[index]) ? masked : list;
}
