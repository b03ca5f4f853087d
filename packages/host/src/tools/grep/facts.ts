import type { NamedFacts } from "../definition.ts";

/** What `grep` knows of its calls. */
export const grepFacts: NamedFacts<{ pattern: string; path?: string; glob?: string }> = {
  name: "grep",
  about: "pattern",
  summary({ pattern, path, glob }) {
    const files = glob ? ` (${glob})` : "";
    return `${JSON.stringify(pattern)} in ${path || "."}${files}`;
  },
  touches: ({ path }) => ({ searches: [path || "."] }),
  advice: [{ text: "Search with grep and find; they skip ignored files and cap their output." }],
};
