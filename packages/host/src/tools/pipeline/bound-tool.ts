import type { AgentToolResult, ToolUpdateCallback } from "@tau/agent";
import { reasonOf } from "../../platform/thrown.ts";
import {
  errorResult,
  type LoopTool,
  type ToolDefinition,
  type ToolEnvironment,
  type ToolFacts,
} from "../definition.ts";

/**
 * A tool that is told where it works, and whose `postProcess` sees each of its results, the failed ones too (law E5).
 * Every member is passed on by hand: tools of extensions may be class instances with methods on their prototype.
 */
export function boundTool(tool: ToolDefinition, environment: ToolEnvironment): LoopTool {
  if (!tool.postProcess && !tool.checkPermission) return tool;
  const { name, label, description, parameters, executionMode } = tool;
  return {
    name,
    label,
    description,
    parameters,
    ...factsOf(tool),
    ...(executionMode && { executionMode }),
    ...(tool.prepareArguments && { prepareArguments: (args) => tool.prepareArguments?.(args) ?? args }),
    ...(tool.checkPermission && {
      checkPermission: (args, call) => tool.checkPermission?.(args, { ...call, environment }),
    }),
    async execute(toolCallId, args, signal, onUpdate) {
      if (!tool.postProcess) return tool.execute(toolCallId, args, signal, onUpdate);
      const result = await settled(tool, toolCallId, { args, signal, onUpdate });
      return (await tool.postProcess(result, { environment, toolCallId, toolName: name, args, signal })) ?? result;
    },
  };
}

function factsOf(tool: ToolDefinition): ToolFacts {
  const { about, advice, opensFiles } = tool;
  return {
    ...(about !== undefined && { about }),
    ...(advice && { advice }),
    ...(opensFiles !== undefined && { opensFiles }),
    ...(tool.summary && { summary: (args) => tool.summary?.(args) ?? "" }),
    ...(tool.touches && { touches: (args) => tool.touches?.(args) ?? {} }),
    ...(tool.body && { body: (args) => tool.body?.(args) }),
  };
}

interface Run {
  readonly args: Record<string, unknown>;
  readonly signal: AbortSignal;
  readonly onUpdate: ToolUpdateCallback;
}

/** A throw becomes a result here, since `postProcess` exists to repair failures. */
async function settled(
  tool: ToolDefinition,
  toolCallId: string,
  { args, signal, onUpdate }: Run,
): Promise<AgentToolResult> {
  try {
    return await tool.execute(toolCallId, args, signal, onUpdate);
  } catch (error) {
    return errorResult(reasonOf(error));
  }
}
