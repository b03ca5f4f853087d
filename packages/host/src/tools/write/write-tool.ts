import type { ToolDefinition, ToolEnvironment } from "../definition.ts";
import { queueWrite } from "../files/queue-write.ts";
import { writeFacts } from "./facts.ts";
import { parameters, type WriteArgs } from "./parameters.ts";

/** The tool `write`: a whole file, new or instead of the old one. Its work is in `write/write-file.ts`. */
export function createWriteTool(environment: ToolEnvironment): ToolDefinition {
  const tool: ToolDefinition<WriteArgs> = {
    ...writeFacts,
    label: "Write",
    description: "Create a file, with its folders, or replace all of its content.",
    parameters,
    // A batch with a write runs in the order of its calls: `mkdir`, write, `cat` in one message must work (R062).
    executionMode: "sequential",
    execute: (_toolCallId, args, signal) =>
      queueWrite({ path: args.path, environment, signal }, async (target) => {
        const { writeFile } = await import("./write-file.ts");
        return writeFile(args, target, environment);
      }),
  };
  return tool;
}
