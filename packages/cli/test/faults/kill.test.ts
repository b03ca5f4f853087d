import { expect, it } from "vitest";
import { killRuns } from "./kill-runs.ts";

it("F10 C5 C9 a kill -9 at any moment loses no message that was shown, and the session goes on to its end", async () => {
  const figures = await killRuns({ seed: 20_260, kills: 60 });
  expect(figures.kills).toBeGreaterThanOrEqual(60);
  console.log(figures);
}, 300_000);
