// Judges every regular expression of the packages and keeps the verdicts: `npm run regexps`.
import { writeVerdicts } from "./check/regexps.mjs";
import { readSources } from "./check/source.mjs";

const verdicts = Object.entries(await writeVerdicts(readSources(process.cwd())));
const bad = verdicts.filter(([, verdict]) => verdict !== "linear");
for (const [pattern, verdict] of bad) console.log(`${verdict}: ${pattern}`);
console.log(`${verdicts.length} patterns with an unbounded repetition, ${bad.length} not linear`);
