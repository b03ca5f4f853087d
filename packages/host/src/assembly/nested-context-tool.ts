import type { NestedContext } from "../prompt/nested-context.ts";
import type { ToolDefinition } from "../tools/definition.ts";

/** Tools whose `path` argument shows that the model works in a folder. */
const FILE_TOOLS = new Set(["read", "edit", "write"]);

/** Wraps a file tool so that a result also shows the instructions of the folder, when the model first comes there. */
export function withNestedContext(tool: ToolDefinition, nested: NestedContext): ToolDefinition {
  if (!FILE_TOOLS.has(tool.name)) return tool;
  return {
    ...tool,
    async execute(toolCallId, args, signal, onUpdate) {
      const result = await tool.execute(toolCallId, args, signal, onUpdate);
      const text = !result.isError && typeof args.path === "string" ? nested.textFor(args.path) : undefined;
      return text === undefined ? result : { ...result, content: [...result.content, { type: "text", text }] };
    },
  };
}
