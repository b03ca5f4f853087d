import { expect, it } from "vitest";
import { type PrefixFigures, PrefixSession } from "./prefix-session.ts";
import { runSize, soaking } from "./size.ts";

const SESSIONS = 100;

it("O3 the bytes up to the last common message stay the same over turns, changes, resumes and both wire APIs", async () => {
  const figures: PrefixFigures = { sessions: 0, pairs: 0, headChanges: 0, compactions: 0, resumes: 0 };
  for (let index = 0; index < SESSIONS; index++) {
    const seed = runSize.seed + index;
    await new PrefixSession(index, seed, figures).play().catch((error: unknown) => {
      throw new Error(`session ${index}, seed ${runSize.seed}`, { cause: error });
    });
  }
  if (soaking) console.log("prefixes:", figures);
  expect(figures.sessions).toBe(SESSIONS);
  for (const count of [figures.pairs, figures.headChanges, figures.compactions, figures.resumes]) {
    expect(count).toBeGreaterThan(10);
  }
}, 600_000);
