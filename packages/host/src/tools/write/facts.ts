import type { NamedFacts } from "../definition.ts";
import { signedLines } from "../files/signed-lines.ts";
import type { WriteArgs } from "./parameters.ts";

/** What `write` knows of its calls. */
export const writeFacts: NamedFacts<WriteArgs> = {
  name: "write",
  onByDefault: true,
  about: "path",
  touches: ({ path }) => ({ writes: [path] }),
  body({ content }) {
    if (typeof content !== "string") return undefined;
    return { kind: "diff", text: signedLines(content, "+"), replaces: ["content"] };
  },
  advice: [{ needs: ["edit"], text: "Change files with edit; write is for new files and complete rewrites." }],
};
