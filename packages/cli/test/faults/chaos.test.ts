import { expect, it } from "vitest";
import { type ChaosFigures, ChaosSession } from "./chaos-session.ts";
import { runSize, soaking } from "./size.ts";

// Most of the time a session waits for a time-out of a stalled answer.
const AT_ONCE = 16;

it("E6 F10 F11 Q4 sessions survive faults of provider, disk, user and power: requests stay valid, nothing is lost", async () => {
  const figures: ChaosFigures = {
    ...{
      sessions: 0,
      requests: 0,
      faults: 0,
      prompts: 0,
      messages: 0,
      resumes: 0,
      crashes: 0,
      compactions: 0,
      retries: 0,
    },
    acts: {},
  };
  let next = 0;
  const work = async () => {
    while (next < runSize.sessions) {
      const seed = runSize.seed + next++ * 7919;
      await new ChaosSession(seed, figures).play().catch((error: unknown) => {
        throw new Error(`seed ${seed}`, { cause: error });
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  if (soaking) console.log("chaos:", figures);
  expect(figures.sessions).toBe(runSize.sessions);
}, 3_600_000);
