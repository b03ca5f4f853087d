/** Money in US dollars. */
export interface Cost {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  total: number;
}

/** Tokens of one response. `input` excludes cached tokens; `output` includes reasoning tokens; `totalTokens` is the sum of all four. */
export interface Usage {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  totalTokens: number;
  cost: Cost;
}
