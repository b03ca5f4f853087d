import type { AgentTool, AgentToolResult, ToolUpdateCallback } from "@tau/agent";
import type { Tool } from "@tau/llm";
import { nearNames } from "../platform/near-names.ts";
import { errorResult, type ToolContext, type ToolDefinition, type ToolEnvironment } from "./definition.ts";

/** A call to `ToolRegistry.execute`. */
export interface ToolExecution {
  readonly toolCallId: string;
  readonly args: Record<string, unknown>;
  readonly signal: AbortSignal;
  readonly onUpdate?: ToolUpdateCallback;
}

/** A list of tools named one that is not registered; the message lists those that are. */
export class UnknownToolError extends Error {
  override readonly name = "UnknownToolError";
}

/**
 * The tools of a session by name (law G1). Registering a known name replaces the tool and keeps its place, so that the
 * list the model sees stays byte-stable (law O3).
 */
export class ToolRegistry {
  readonly #environment: ToolEnvironment;
  readonly #tools = new Map<string, ToolDefinition>();

  constructor(environment: ToolEnvironment, tools: Iterable<ToolDefinition> = []) {
    this.#environment = environment;
    for (const tool of tools) this.register(tool);
  }

  register(tool: ToolDefinition): void {
    if (tool.name === "") throw new Error("A tool needs a name.");
    this.#tools.set(tool.name, tool);
  }

  /** False when there was no such tool. */
  unregister(name: string): boolean {
    return this.#tools.delete(name);
  }

  get(name: string): ToolDefinition | undefined {
    return this.#tools.get(name);
  }

  list(): readonly ToolDefinition[] {
    return [...this.#tools.values()];
  }

  /** What goes into the request: name, description and schema, in the order of `names` (all, when absent). */
  forModel(names?: readonly string[]): Tool[] {
    return this.#select(names).map(({ name, description, parameters }) => ({ name, description, parameters }));
  }

  /** What goes to the loop: the tools with their `postProcess` built in (law E5), in the order of `names`. */
  forLoop(names?: readonly string[]): AgentTool[] {
    return this.#select(names).map((tool) => withPostProcess(tool, this.#environment));
  }

  /** Runs one call outside the loop. Never rejects: an unknown name or a throwing tool is an error result. */
  async execute(name: string, { toolCallId, args, signal, onUpdate }: ToolExecution): Promise<AgentToolResult> {
    const tool = this.#tools.get(name);
    if (!tool) return errorResult(this.#unknown(name));
    try {
      const prepared = tool.prepareArguments?.(args) ?? args;
      return await withPostProcess(tool, this.#environment).execute(toolCallId, prepared, signal, onUpdate ?? ignore);
    } catch (error) {
      return errorResult(messageOf(error));
    }
  }

  #select(names: readonly string[] | undefined): ToolDefinition[] {
    if (!names) return [...this.#tools.values()];
    return [...new Set(names)].map((name) => {
      const tool = this.#tools.get(name);
      if (!tool) throw new UnknownToolError(this.#unknown(name));
      return tool;
    });
  }

  #unknown(name: string): string {
    const known = [...this.#tools.keys()];
    const near = nearNames(name, known)[0];
    const hint = near === undefined ? "" : ` Did you mean "${near}"?`;
    return `There is no tool "${name}".${hint} Tools: ${known.join(", ") || "none"}.`;
  }
}

/** Every member is passed on by hand: tools of extensions may be class instances with methods on their prototype. */
function withPostProcess(tool: ToolDefinition, environment: ToolEnvironment): AgentTool {
  if (!tool.postProcess) return tool;
  const { name, label, description, parameters, executionMode } = tool;
  return {
    name,
    label,
    description,
    parameters,
    ...(executionMode && { executionMode }),
    ...(tool.prepareArguments && { prepareArguments: (args) => tool.prepareArguments?.(args) ?? args }),
    async execute(toolCallId, args, signal, onUpdate) {
      const result = await settle(tool, toolCallId, { args, signal, onUpdate });
      const context: ToolContext = { environment, toolCallId, toolName: name, args, signal };
      return (await tool.postProcess?.(result, context)) ?? result;
    },
  };
}

/** A throw becomes a result here, since `postProcess` exists to mend failures (law E5). */
async function settle(
  tool: ToolDefinition,
  toolCallId: string,
  { args, signal, onUpdate }: { args: Record<string, unknown>; signal: AbortSignal; onUpdate: ToolUpdateCallback },
): Promise<AgentToolResult> {
  try {
    return await tool.execute(toolCallId, args, signal, onUpdate);
  } catch (error) {
    return errorResult(messageOf(error));
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function ignore(): void {
  return;
}
