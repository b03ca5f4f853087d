import type { TokenCounts } from "../stream/usage.ts";

/** Numbers of tokens as OpenAI's APIs give them; 0 for what is not told. */
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
 * hold the reasoning ones. xAI leaves the reasoning out of the output; there the total tells.
 */
export function splitCounts({ prompt, output, reasoning, total, cached, written }: ToldCounts): TokenCounts {
  const cacheRead = Math.min(cached, prompt);
  const cacheWrite = Math.min(written, prompt - cacheRead);
  const apart = reasoning > 0 && total === prompt + output + reasoning;
  return {
    input: prompt - cacheRead - cacheWrite,
    output: apart ? output + reasoning : output,
    cacheRead,
    cacheWrite,
  };
}
