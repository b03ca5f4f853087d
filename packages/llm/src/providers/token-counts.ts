import type { TokenCounts } from "../stream/usage.ts";

/** Numbers of tokens as OpenAI's APIs give them; 0 for what is missing. */
interface ToldCounts {
  /** With the cached and the written ones. */
  prompt: number;
  output: number;
  reasoning: number;
  total: number;
  cached: number;
  written: number;
}

/**
 * Counts with each token in one place (R034): prompt tokens of OpenAI's APIs hold the cached ones, and output tokens
 * hold the reasoning ones. Some servers count them apart. Of the reasoning the total tells (xAI); of the cached ones
 * the total as well, or that there are more of them than prompt tokens (R209).
 */
export function splitCounts({ prompt, output, reasoning, total, cached, written }: ToldCounts): TokenCounts {
  const stored = cached + written;
  const storedApart = stored > prompt || (stored > 0 && total === prompt + stored + output);
  const reasoningApart = reasoning > 0 && total === prompt + output + reasoning;
  return {
    input: storedApart ? prompt : prompt - stored,
    output: reasoningApart ? output + reasoning : output,
    cacheRead: cached,
    cacheWrite: written,
  };
}
