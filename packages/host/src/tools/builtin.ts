import { createBashTool } from "./bash.ts";
import type { ToolDefinition, ToolEnvironment, ToolFactory } from "./definition.ts";
import { createEditTool } from "./edit.ts";
import { FileReads } from "./file-reads.ts";
import { createFindTool } from "./find.ts";
import { createGrepTool } from "./grep.ts";
import { createLsTool } from "./ls.ts";
import { createReadTool } from "./read.ts";
import { createWriteTool } from "./write.ts";

/** On unless the user says otherwise (law G2). */
export const DEFAULT_TOOLS: readonly string[] = ["read", "bash", "edit", "write"];

/** The built-in tools, one row each; the order is the one the model sees. */
const FACTORIES: readonly ToolFactory[] = [
  createReadTool,
  createBashTool,
  createEditTool,
  createWriteTool,
  createGrepTool,
  createFindTool,
  createLsTool,
];

/** Makes all built-in tools for one session; they share what the model has read. */
export function createBuiltinTools(environment: ToolEnvironment): ToolDefinition[] {
  const shared = { ...environment, fileReads: environment.fileReads ?? new FileReads() };
  return FACTORIES.map((create) => create(shared));
}
