import type { AssistantAssembler } from "../../stream/assembler.ts";
import { isRecord } from "../../stream/json.ts";
import { type TokenCounts, tokenCount } from "../../stream/usage.ts";

/**
 * Tokens of a Messages stream. Its counts are totals so far, and the input is without the cached tokens (R034). The
 * last report wins (R209); one without a single token says nothing: a proxy may send either event with zeros.
 */
export class MessagesUsage {
  readonly #assembler: AssistantAssembler;
  #counts: TokenCounts = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

  constructor(assembler: AssistantAssembler) {
    this.#assembler = assembler;
  }

  report(usage: unknown): void {
    if (!isRecord(usage)) return;
    const input = tokenCount(usage.input_tokens);
    const cacheRead = tokenCount(usage.cache_read_input_tokens);
    const cacheWrite = tokenCount(usage.cache_creation_input_tokens);
    const known = this.#counts;
    // The three are one report: a cached prompt may have an input of 0.
    const prompt =
      (input ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0) > 0
        ? {
            input: input ?? known.input,
            cacheRead: cacheRead ?? known.cacheRead,
            cacheWrite: cacheWrite ?? known.cacheWrite,
          }
        : known;
    this.#counts = {
      input: prompt.input,
      output: tokenCount(usage.output_tokens) || known.output,
      cacheRead: prompt.cacheRead,
      cacheWrite: prompt.cacheWrite,
    };
    this.#assembler.setUsage(this.#counts);
  }
}
