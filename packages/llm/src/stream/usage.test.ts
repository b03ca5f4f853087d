import { describe, expect, it } from "vitest";
import { priceUsage } from "./usage.ts";

describe("priceUsage", () => {
  const base = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
  const tier = (inputTokensAbove: number, times: number) => ({
    inputTokensAbove,
    input: 3 * times,
    output: 15 * times,
    cacheRead: 0.3 * times,
    cacheWrite: 3.75 * times,
  });
  const tokens = { input: 100_000, output: 1_000_000, cacheRead: 50_000, cacheWrite: 50_000 };
  const plain = priceUsage(tokens, base).cost.total;

  it.each([
    ["none fits: 200,000 tokens of input are not above 200,000", [tier(200_000, 2)], 1],
    ["the highest that fits, in whatever order they stand", [tier(100_000, 2), tier(199_999, 3), tier(300_000, 9)], 3],
    ["the highest that fits, in whatever order they stand", [tier(199_999, 3), tier(100_000, 2)], 3],
  ])("takes the prices of a tier for the whole request: %s", (_, tiers, times) => {
    expect(priceUsage(tokens, { ...base, tiers }).cost.total).toBeCloseTo(plain * times, 10);
  });

  it("counts cached tokens as input, and no output", () => {
    const few = { input: 1, output: 1_000_000, cacheRead: 0, cacheWrite: 0 };
    expect(priceUsage(few, { ...base, tiers: [tier(10, 5)] }).cost.output).toBe(15);
  });
});
