import type { ToolDefinition, ToolEnvironment } from "../definition.ts";
import { readFacts } from "./facts.ts";
import { parameters, type ReadArgs } from "./parameters.ts";

/** The tool `read`: lines of a text file, or an image. Its work is in `read/read-file.ts`. */
export function createReadTool(environment: ToolEnvironment): ToolDefinition {
  const tool: ToolDefinition<ReadArgs> = {
    ...readFacts,
    label: "Read",
    description:
      "Read a text file (up to 2000 lines or 50 KB a call; continue with offset) or look at an image (png, jpg, gif, webp).",
    parameters,
    async execute(_toolCallId, args, signal) {
      const { readFile } = await import("./read-file.ts");
      return readFile(args, environment, signal);
    },
  };
  return tool;
}
