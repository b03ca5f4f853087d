// Runs the tests with random faults at full size: `npm run soak -- --kills 1000 --sessions 500 --streams 20000 --seed 7`.
// The seed is printed, and the same seed plays the same sessions again.
import { parseArgs } from "node:util";
import { startVitest } from "vitest/node";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "1000" },
    sessions: { type: "string", default: "500" },
    seed: { type: "string", default: String(Date.now() % 1_000_000_000) },
    streams: { type: "string", default: "20000" },
    only: { type: "string", multiple: true, default: ["packages/cli/test/faults/", "mutated-streams"] },
  },
});
const runSize = {
  seed: Number(values.seed),
  kills: Number(values.kills),
  sessions: Number(values.sessions),
};
const mutatedStreams = { seed: runSize.seed, runs: Number(values.streams) };
console.log(
  `seed ${runSize.seed}, ${runSize.kills} kills, ${runSize.sessions} sessions, ${mutatedStreams.runs} streams an API`,
);
const vitest = await startVitest("test", values.only, {
  watch: false,
  provide: { runSize, mutatedStreams },
  disableConsoleIntercept: true,
  reporters: ["verbose"],
});
await vitest.close();
