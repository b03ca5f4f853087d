import { isRecord } from "../../stream/json.ts";
import { type TokenCounts, tokenCount } from "../../stream/usage.ts";
import { splitCounts } from "../token-counts.ts";

/**
 * Tokens from a chunk, wherever a server puts them: `usage` of the chunk or of its choice, `x_groq.usage`, llama.cpp's
 * `timings`. Undefined when the chunk has none, or only zeros.
 */
export function usageOf(
  chunk: Record<string, unknown>,
  choice: Record<string, unknown> | undefined,
): TokenCounts | undefined {
  if (!chunk.usage && !choice?.usage && !chunk.x_groq && !chunk.timings) return undefined;
  const groq = isRecord(chunk.x_groq) ? chunk.x_groq.usage : undefined;
  for (const usage of [chunk.usage, choice?.usage, groq]) {
    const counts = isRecord(usage) ? countsOf(usage) : undefined;
    if (counts && counts.input + counts.output + counts.cacheRead + counts.cacheWrite > 0) return counts;
  }
  return isRecord(chunk.timings) ? countsOfTimings(chunk.timings) : undefined;
}

function countsOf(usage: Record<string, unknown>): TokenCounts {
  const promptDetails = isRecord(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const completionDetails = isRecord(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
  const prompt = count(usage.prompt_tokens);
  const completion = count(usage.completion_tokens);
  const reasoning = count(completionDetails.reasoning_tokens);
  const cached = count(promptDetails.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens);
  const written = count(promptDetails.cache_write_tokens);
  return splitCounts({ prompt, output: completion, reasoning, total: count(usage.total_tokens), cached, written });
}

function countsOfTimings(timings: Record<string, unknown>): TokenCounts | undefined {
  const input = count(timings.prompt_n);
  const output = count(timings.predicted_n);
  const cacheRead = count(timings.cache_n);
  return input + output + cacheRead > 0 ? { input, output, cacheRead, cacheWrite: 0 } : undefined;
}

function count(value: unknown): number {
  return tokenCount(value) ?? 0;
}
