import type { NamedFacts } from "../definition.ts";

/** What `ls` knows of its calls. */
export const lsFacts: NamedFacts<{ path?: string }> = {
  name: "ls",
  summary: ({ path }) => path || ".",
  touches: ({ path }) => ({ searches: [path || "."] }),
};
