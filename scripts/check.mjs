// House rules that no off-the-shelf linter knows: layers, cycles, caps, borders. `npm run check` runs it.
import { checkBorders } from "./check/borders.mjs";
import { checkCaps } from "./check/caps.mjs";
import { checkCitations } from "./check/citations.mjs";
import { checkCycles } from "./check/cycles.mjs";
import { checkLayers } from "./check/layers.mjs";
import { checkPublicDocs } from "./check/public-docs.mjs";
import { checkRegexps } from "./check/regexps.mjs";
import { readSources } from "./check/source.mjs";

const sources = readSources(process.cwd());
const ofSources = [checkLayers, checkCycles, checkCaps, checkBorders, checkPublicDocs].flatMap((check) =>
  check(sources),
);
const problems = [...ofSources, ...checkCitations(), ...(await checkRegexps(sources))];
for (const problem of problems) console.error(problem);
console.log(
  `checked ${sources.length} files: ${problems.length === 0 ? "no problems" : `${problems.length} problems`}`,
);
process.exitCode = problems.length === 0 ? 0 : 1;
