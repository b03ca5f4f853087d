/** What can be left out or renamed in a request that a server refused. */
export type Mend =
  | "no-stream-options"
  | "max-tokens"
  | "max-completion-tokens"
  | "no-developer-role"
  | "no-cache-key"
  | "no-temperature";

interface MendRule {
  mend: Mend;
  /** Holds for the body of a 400 or 422 that speaks of the field. */
  text: RegExp;
  /** The field that must be in the request for the rule to help. */
  field: RegExp;
}

const RULES: readonly MendRule[] = [
  { mend: "no-stream-options", text: /stream_?options|include_usage/i, field: /"stream_options":/ },
  {
    mend: "max-completion-tokens",
    text: /max_tokens.{0,80}(not supported|unsupported).*max_completion_tokens/is,
    field: /"max_tokens":/,
  },
  {
    mend: "max-tokens",
    text: /(unknown|unrecognized|unexpected|extra|unsupported|not (supported|permitted|allowed)).{0,120}max_completion_tokens|max_completion_tokens.{0,120}(unknown|unrecognized|unexpected|extra|unsupported|not (supported|permitted|allowed))/is,
    field: /"max_completion_tokens":/,
  },
  { mend: "no-developer-role", text: /developer.{0,200}role|role.{0,200}developer/is, field: /"role":"developer"/ },
  { mend: "no-cache-key", text: /prompt_cache_key/i, field: /"prompt_cache_key":/ },
  {
    mend: "no-temperature",
    text: /temperature.{0,120}(not support|unsupported|only the default)|unsupported.{0,80}temperature/is,
    field: /"temperature":/,
  },
];

const NONE: ReadonlySet<Mend> = new Set();

/** What servers were found to refuse, by base URL and model, for the life of the process (R033). */
const known = new Map<string, ReadonlySet<Mend>>();

/** The mends that a server is known to need. */
export function mendsFor(server: string): ReadonlySet<Mend> {
  return known.get(server) ?? NONE;
}

/** Learns from a refused request; true when another try with the mends of the server can help. */
export function learnMend(server: string, refused: { status: number; answer: string; request: () => string }): boolean {
  if (refused.status !== 400 && refused.status !== 422) return false;
  const request = refused.request();
  const rule = RULES.find(({ text, field }) => text.test(refused.answer) && field.test(request));
  const mends = mendsFor(server);
  if (!rule || mends.has(rule.mend)) return false;
  known.set(server, new Set([...mends, rule.mend]));
  return true;
}

/** Forgets everything, for tests. */
export function forgetMends(): void {
  known.clear();
}
