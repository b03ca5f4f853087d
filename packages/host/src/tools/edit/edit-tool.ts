import type { ToolDefinition, ToolEnvironment } from "../definition.ts";
import { queueWrite } from "../files/queue-write.ts";
import { editFacts } from "./facts.ts";
import { type EditArgs, parameters } from "./parameters.ts";

/** The tool `edit`: replacements of exact text, all or none. Its work is in `edit/edit-file.ts`. */
export function createEditTool(environment: ToolEnvironment): ToolDefinition {
  const tool: ToolDefinition<EditArgs> = {
    ...editFacts,
    label: "Edit",
    description:
      "Replace text in a file: all edits or none, each matched against the file as it was before the call. " +
      "Put changes to one file into one call.",
    parameters,
    prepareArguments: repairEdits,
    // See `write`.
    executionMode: "sequential",
    execute: (_toolCallId, args, signal) =>
      queueWrite({ path: args.path, environment, signal }, async (target) => {
        const { editFile } = await import("./edit-file.ts");
        return editFile(args, target, environment);
      }),
  };
  return tool;
}

/**
 * Older shapes of pi, still in sessions and in habits of models: one edit as `oldText` and `newText` beside
 * the path, and `edits` as JSON text or as a single object.
 */
function repairEdits(args: Record<string, unknown>): Record<string, unknown> {
  const { oldText, newText, edits, ...rest } = args;
  const list = listOf(edits);
  const isOldShape = typeof oldText === "string" && typeof newText === "string";
  if (!isOldShape) return list === edits ? args : { ...args, edits: list };
  if (list !== undefined && !Array.isArray(list)) return args;
  return { ...rest, edits: [...(list ?? []), { oldText, newText }] };
}

function listOf(edits: unknown): unknown {
  const value = typeof edits === "string" ? parsedOr(edits) : edits;
  const isOne = typeof value === "object" && value !== null && !Array.isArray(value) && "oldText" in value;
  return isOne ? [value] : value;
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: validation will say what was expected.
    return text;
  }
}
