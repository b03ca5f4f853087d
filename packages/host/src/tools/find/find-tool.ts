import type { ToolDefinition, ToolEnvironment } from "../definition.ts";
import type { ArgsOf } from "../schema.ts";
import { findFacts } from "./facts.ts";
import type { FindDetails } from "./find-result.ts";

const PARAMETERS = {
  type: "object",
  properties: {
    pattern: { type: "string", description: "Glob: *.ts, src/**/*.{c,h}, or a path" },
    path: { type: "string", description: "Folder, default ." },
    limit: { type: "integer", description: "Most paths, default 1000" },
  },
  required: ["pattern"],
} as const;

/** `find`: files and folders by glob, listed by ripgrep (FIELD-REPORTS 5). */
export function createFindTool(environment: ToolEnvironment): ToolDefinition {
  const tool: ToolDefinition<ArgsOf<typeof PARAMETERS>, FindDetails | undefined> = {
    ...findFacts,
    label: "Find files",
    description:
      "Find files by name. Hidden files too; ignore rules hold unless path or pattern names the ignored place.",
    parameters: PARAMETERS,
    async execute(_toolCallId, args, signal) {
      const { runFind } = await import("./run-find.ts");
      return runFind({ environment, args, signal });
    },
  };
  return tool;
}
