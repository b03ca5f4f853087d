interface MendRule<Mend> {
  mend: Mend;
  /** Holds for the body of an answer that speaks of the field. */
  text: RegExp;
  /** The field that must be in the request for the rule to help. */
  field: RegExp;
}

/** A refused request; `request` gives the text of its body, which is long. */
export interface Refused {
  status: number;
  answer: string;
  request: () => string;
}

// 404 is said of an item of the history that a server does not know.
const REFUSALS = [400, 404, 422];

/** What servers were found to refuse, by base URL and model, for the life of the process (R033). */
export class MendMemory<Mend extends string> {
  readonly #rules: readonly MendRule<Mend>[];
  readonly #known = new Map<string, ReadonlySet<Mend>>();
  readonly #none: ReadonlySet<Mend> = new Set();

  constructor(rules: readonly MendRule<Mend>[]) {
    this.#rules = rules;
  }

  /** The mends that a server is known to need. */
  for(server: string): ReadonlySet<Mend> {
    return this.#known.get(server) ?? this.#none;
  }

  /** Learns from a refused request; true when another try with the mends of the server can help. */
  learn(server: string, refused: Refused): boolean {
    if (!REFUSALS.includes(refused.status)) return false;
    const mends = this.for(server);
    const open = this.#rules.filter(({ mend, text }) => !mends.has(mend) && text.test(refused.answer));
    if (open.length === 0) return false;
    const request = refused.request();
    const rule = open.find(({ field }) => field.test(request));
    if (!rule) return false;
    this.#known.set(server, new Set([...mends, rule.mend]));
    return true;
  }

  /** Forgets everything, for tests. */
  forget(): void {
    this.#known.clear();
  }
}
