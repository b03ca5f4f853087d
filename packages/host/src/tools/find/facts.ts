import type { NamedFacts } from "../definition.ts";

/** What `find` knows of its calls. */
export const findFacts: NamedFacts<{ pattern: string; path?: string }> = {
  name: "find",
  about: "pattern",
  summary: ({ pattern, path }) => `${pattern} in ${path || "."}`,
  touches: ({ path }) => ({ searches: [path || "."] }),
};
