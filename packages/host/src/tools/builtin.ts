import { createBashTool } from "./bash/bash-tool.ts";
import type { ToolDefinition, ToolEnvironment, ToolFactory } from "./definition.ts";
import { createEditTool } from "./edit/edit-tool.ts";
import { FileReads } from "./files/file-reads.ts";
import { createFindTool } from "./find/find-tool.ts";
import { createGrepTool } from "./grep/grep-tool.ts";
import { createLsTool } from "./ls/ls-tool.ts";
import { createReadTool } from "./read/read-tool.ts";
import { createWriteTool } from "./write/write-tool.ts";

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
  // One that has all is kept as it is: what it gives may come later than this.
  const shared = environment.fileReads ? environment : { ...environment, fileReads: new FileReads() };
  return FACTORIES.map((create) => create(shared));
}
