import type { ArgsOf } from "../schema.ts";

/** What the model gives the tool `write`. */
export const parameters = {
  type: "object",
  properties: { path: { type: "string" }, content: { type: "string" } },
  required: ["path", "content"],
} as const;

export type WriteArgs = ArgsOf<typeof parameters>;
