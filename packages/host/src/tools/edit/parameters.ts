import type { ArgsOf } from "../schema.ts";

/** What the model gives the tool `edit`. */
export const parameters = {
  type: "object",
  properties: {
    path: { type: "string" },
    edits: {
      type: "array",
      items: {
        type: "object",
        properties: {
          oldText: { type: "string", description: "Exact text, unique in the file" },
          newText: { type: "string" },
        },
        required: ["oldText", "newText"],
      },
    },
  },
  required: ["path", "edits"],
} as const;

export type EditArgs = ArgsOf<typeof parameters>;
export type TextEdit = EditArgs["edits"][number];
