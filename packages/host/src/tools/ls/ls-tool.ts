import type { ToolDefinition, ToolEnvironment } from "../definition.ts";
import type { ArgsOf } from "../schema.ts";
import { lsFacts } from "./facts.ts";
import type { LsDetails } from "./list-folder.ts";

const PARAMETERS = {
  type: "object",
  properties: {
    path: { type: "string", description: "Default ." },
    limit: { type: "integer", description: "Default 500" },
  },
} as const;

/** `ls`: the names in a folder, dotfiles included, sorted. */
export function createLsTool(environment: ToolEnvironment): ToolDefinition {
  const tool: ToolDefinition<ArgsOf<typeof PARAMETERS>, LsDetails | undefined> = {
    ...lsFacts,
    label: "List folder",
    description: "List a folder. Folders end in /, links show their target.",
    parameters: PARAMETERS,
    async execute(_toolCallId, args) {
      const { listFolder } = await import("./list-folder.ts");
      return listFolder(environment, args);
    },
  };
  return tool;
}
