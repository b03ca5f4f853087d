import type { ArgsOf } from "../schema.ts";

/** What the model gives the tool `read`. */
export const parameters = {
  type: "object",
  properties: {
    path: { type: "string" },
    offset: { type: "integer", description: "First line, from 1" },
    limit: { type: "integer", description: "Number of lines" },
  },
  required: ["path"],
} as const;

export type ReadArgs = ArgsOf<typeof parameters>;
