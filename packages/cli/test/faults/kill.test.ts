import { expect, it } from "vitest";
import { killRuns } from "./kill-runs.ts";
import { runSize, soaking } from "./size.ts";

it("F10 C5 C9 a kill -9 at any moment loses no message that was shown, and the session continues to its end", async () => {
  const figures = await killRuns(runSize);
  if (soaking) console.log("kills:", figures);
  expect(figures.kills).toBeGreaterThanOrEqual(runSize.kills);
  expect(figures.neverStarted).toBeGreaterThan(0);
  expect(figures.partlyRun).toBeGreaterThan(0);
}, 3_600_000);
