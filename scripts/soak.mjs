// Runs the tests with random faults at full size: `npm run soak -- --kills 1000 --sessions 500 --seed 7`.
// The seed is printed, and the same seed plays the same sessions again.
import { parseArgs } from "node:util";
import { startVitest } from "vitest/node";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "1000" },
    sessions: { type: "string", default: "500" },
    seed: { type: "string", default: String(Date.now() % 1_000_000_000) },
    only: { type: "string", default: "packages/cli/test/faults/" },
  },
});
const runSize = {
  seed: Number(values.seed),
  kills: Number(values.kills),
  sessions: Number(values.sessions),
};
console.log(`seed ${runSize.seed}, ${runSize.kills} kills, ${runSize.sessions} sessions`);
const vitest = await startVitest("test", [values.only], {
  watch: false,
  provide: { runSize },
  disableConsoleIntercept: true,
  reporters: ["verbose"],
});
await vitest.close();
