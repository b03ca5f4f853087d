import { isRecord } from "../../stream/json.ts";
import { type TokenCounts, tokenCount } from "../../stream/usage.ts";
import { splitCounts } from "../token-counts.ts";

/** Tokens from the `usage` of a response, also under the names of chat completions; undefined when it says nothing. */
export function usageOf(usage: unknown): TokenCounts | undefined {
  if (!isRecord(usage)) return undefined;
  const input = record(usage.input_tokens_details ?? usage.prompt_tokens_details);
  const output = record(usage.output_tokens_details ?? usage.completion_tokens_details);
  const counts = splitCounts({
    prompt: count(usage.input_tokens ?? usage.prompt_tokens),
    output: count(usage.output_tokens ?? usage.completion_tokens),
    reasoning: count(output.reasoning_tokens),
    total: count(usage.total_tokens),
    cached: count(input.cached_tokens),
    written: count(input.cache_write_tokens),
  });
  return counts.input + counts.output + counts.cacheRead + counts.cacheWrite > 0 ? counts : undefined;
}

function count(value: unknown): number {
  return tokenCount(value) ?? 0;
}

function record(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}
