import { expect, it } from "vitest";
import { BudgetKeeper } from "./budget.ts";
import { Chain } from "./chain.ts";

const usage = (total: number) => ({
  input: 1,
  output: 1,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 2,
  cost: { input: total, output: 0, cacheRead: 0, cacheWrite: 0, total },
});

it("R262 knows at each moment what is left of its limits, never less than nothing", () => {
  let now = 1000;
  const never = () => new Promise<void>(() => undefined);
  const budget = new BudgetKeeper({ maxTurns: 2, maxCost: 1, timeoutMs: 10_000, spentMs: () => 500 }, never, () => now);
  expect(budget.left()).toEqual({ maxTurns: 2, maxCost: 1, maxMs: 9_500 });
  const end = budget.watch(new Chain("run"), () => undefined);
  now += 2_000;
  budget.request();
  budget.use(usage(0.25));
  expect(budget.left()).toEqual({ maxTurns: 1, maxCost: 0.75, maxMs: 7_500 });
  end();
  now += 100_000;
  expect(budget.left()).toMatchObject({ maxMs: 7_500 });
  budget.watch(new Chain("run"), () => undefined);
  now += 100_000;
  for (let turn = 0; turn < 5; turn++) budget.request();
  budget.use(usage(5));
  expect(budget.left()).toEqual({ maxTurns: 0, maxCost: 0, maxMs: 1 });
});

it("R262 has nothing left to name where there is no limit", () => {
  const budget = new BudgetKeeper({}, () => Promise.resolve(), Date.now);
  expect(budget.left()).toEqual({});
});
