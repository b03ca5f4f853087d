import { dirname, isAbsolute, relative, resolve, sep } from "node:path";
import type { AgentTool } from "@tau/agent";
import type { ContextFile, ContextFileCollector } from "./context-files.ts";
import { foldersDownTo } from "./context-files.ts";

/** Tools whose `path` argument shows that the model works in a folder. */
const FILE_TOOLS = new Set(["read", "edit", "write"]);

export interface NestedContextOptions {
  /** Working directory; only folders below it are looked at. */
  cwd: string;
  /** The collector of the start, so that no file comes twice. */
  collector: ContextFileCollector;
  /** Told of each file that was added. */
  onAdded?(file: ContextFile): void;
}

/**
 * Wraps a file tool so that the first successful call in a sub-folder also shows the model the context files of that
 * folder (R152). They go at the end of the result: what was sent before stays as it is (O3).
 */
export function withNestedContext<Tool extends AgentTool>(tool: Tool, options: NestedContextOptions): Tool {
  if (!FILE_TOOLS.has(tool.name)) return tool;
  return {
    ...tool,
    async execute(toolCallId, args, signal, onUpdate) {
      const result = await tool.execute(toolCallId, args, signal, onUpdate);
      if (result.isError || typeof args.path !== "string") return result;
      const added = addFoldersOf(args.path, options);
      if (added.length === 0) return result;
      for (const file of added) options.onAdded?.(file);
      return { ...result, content: [...result.content, { type: "text", text: describe(added) }] };
    },
  };
}

function addFoldersOf(path: string, { cwd, collector }: NestedContextOptions): ContextFile[] {
  const folder = dirname(resolve(cwd, path));
  const below = relative(cwd, folder);
  if (below === "" || isAbsolute(below) || below === ".." || below.startsWith(`..${sep}`)) return [];
  return foldersDownTo(folder)
    .filter((each) => each.length > cwd.length)
    .flatMap((each) => collector.addFolder(each));
}

function describe(files: readonly ContextFile[]): string {
  const blocks = files.map(({ path, text }) => `<instructions path="${path}">\n${text}\n</instructions>`);
  return `Instructions for the files in this folder:\n${blocks.join("\n")}`;
}
