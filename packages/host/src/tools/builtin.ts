import { createBashTool } from "./bash/bash-tool.ts";
import { bashFacts } from "./bash/facts.ts";
import type { NamedFacts, ToolDefinition, ToolEnvironment, ToolFactory } from "./definition.ts";
import { createEditTool } from "./edit/edit-tool.ts";
import { editFacts } from "./edit/facts.ts";
import { FileReads } from "./files/file-reads.ts";
import { findFacts } from "./find/facts.ts";
import { createFindTool } from "./find/find-tool.ts";
import { grepFacts } from "./grep/facts.ts";
import { createGrepTool } from "./grep/grep-tool.ts";
import { lsFacts } from "./ls/facts.ts";
import { createLsTool } from "./ls/ls-tool.ts";
import { readFacts } from "./read/facts.ts";
import { createReadTool } from "./read/read-tool.ts";
import { writeFacts } from "./write/facts.ts";
import { createWriteTool } from "./write/write-tool.ts";

interface BuiltinTool {
  readonly facts: NamedFacts;
  readonly create: ToolFactory;
}

/** The built-in tools, one row each; the order is the one the model sees. */
const BUILTIN: readonly BuiltinTool[] = [
  { facts: readFacts, create: createReadTool },
  { facts: bashFacts, create: createBashTool },
  { facts: editFacts, create: createEditTool },
  { facts: writeFacts, create: createWriteTool },
  { facts: grepFacts, create: createGrepTool },
  { facts: findFacts, create: createFindTool },
  { facts: lsFacts, create: createLsTool },
];

const FACTS: ReadonlyMap<string, NamedFacts> = new Map(BUILTIN.map(({ facts }) => [facts.name, facts]));

/** Names of the tools that are on unless the user says otherwise (law G2). */
export const DEFAULT_TOOLS: readonly string[] = [...FACTS.values()]
  .filter(({ onByDefault }) => onByDefault)
  .map(({ name }) => name);

/** What a built-in tool knows of its calls; undefined for a name that is not built in. */
export function builtinFacts(name: string): NamedFacts | undefined {
  return FACTS.get(name);
}

/** Makes all built-in tools for one session; they share what the model has read. */
export function createBuiltinTools(environment: ToolEnvironment): ToolDefinition[] {
  // One that has all is kept as it is: what it gives may come later than this.
  const shared = environment.fileReads ? environment : { ...environment, fileReads: new FileReads() };
  return BUILTIN.map(({ create }) => create(shared));
}
