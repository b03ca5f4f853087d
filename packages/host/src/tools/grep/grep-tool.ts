import type { ToolDefinition, ToolEnvironment } from "../definition.ts";
import type { ArgsOf } from "../schema.ts";
import { grepFacts } from "./facts.ts";
import type { GrepDetails } from "./grep-result.ts";

const PARAMETERS = {
  type: "object",
  properties: {
    pattern: { type: "string", description: "Regular expression (Rust syntax)" },
    path: { type: "string", description: "File or folder, default ." },
    glob: { type: "string", description: "Only such files, e.g. *.ts or src/**/*.{c,h}" },
    ignoreCase: { type: "boolean" },
    literal: { type: "boolean", description: "Pattern is plain text" },
    context: { type: "integer", description: "Lines around each match" },
    limit: { type: "integer", description: "Most matches, default 100" },
  },
  required: ["pattern"],
} as const;

/** `grep`: searches file contents with ripgrep (FIELD-REPORTS 5). */
export function createGrepTool(environment: ToolEnvironment): ToolDefinition {
  const tool: ToolDefinition<ArgsOf<typeof PARAMETERS>, GrepDetails | undefined> = {
    ...grepFacts,
    label: "Search",
    description: "Search file contents. Hidden files too; ignore rules hold unless path names the ignored place.",
    parameters: PARAMETERS,
    async execute(_toolCallId, args, signal) {
      const { runGrep } = await import("./run-grep.ts");
      return runGrep({ environment, args, signal });
    },
  };
  return tool;
}
