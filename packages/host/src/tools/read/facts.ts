import type { NamedFacts } from "../definition.ts";
import type { ReadArgs } from "./parameters.ts";

/** What `read` knows of its calls. */
export const readFacts: NamedFacts<ReadArgs> = {
  name: "read",
  onByDefault: true,
  about: "path",
  summary: ({ path, offset }) => (offset === undefined ? path : `${path} from line ${offset}`),
  touches: ({ path }) => ({ reads: [path] }),
  opensFiles: true,
  advice: [{ needs: ["bash"], text: "Read files with read, not cat or sed; for a long file give offset and limit." }],
};
