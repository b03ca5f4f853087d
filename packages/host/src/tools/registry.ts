import type { AgentToolResult } from "@tau/agent";
import type { Tool } from "@tau/llm";
import { HookBus } from "../hooks/hook-bus.ts";
import { nearNames } from "../platform/near-names.ts";
import { errorResult, type LoopTool, type ToolDefinition, type ToolEnvironment } from "./definition.ts";
import { boundTool } from "./pipeline/bound-tool.ts";
import { LARGEST_RESULT } from "./pipeline/result-cap.ts";
import { decideAlone, type PipelineParts, type ToolExecution, ToolPipeline } from "./pipeline/tool-pipeline.ts";

/** What stands around the tools of a registry when they run outside of a session; each has a default that does nothing. */
export type RegistryParts = Partial<Omit<PipelineParts, "decide">>;

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
  readonly #pipeline: ToolPipeline;

  constructor(environment: ToolEnvironment, tools: Iterable<ToolDefinition> = [], parts: RegistryParts = {}) {
    this.#environment = environment;
    this.#pipeline = new ToolPipeline({ ...ALONE, ...parts });
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

  /** What goes to a session: the tools, told where they work, in the order of `names`. */
  forLoop(names?: readonly string[]): LoopTool[] {
    return this.#select(names).map((tool) => boundTool(tool, this.#environment));
  }

  /**
   * Runs one call outside of a session, through the same stages. Never rejects: an unknown name, wrong arguments, a
   * denial and a throwing tool are error results. What would be asked is denied, since nobody is there.
   */
  async execute(name: string, execution: ToolExecution): Promise<AgentToolResult> {
    const tool = this.#tools.get(name);
    if (!tool) return errorResult(this.#unknown(name));
    return this.#pipeline.execute(boundTool(tool, this.#environment), execution);
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

const ALONE: PipelineParts = {
  hooks: new HookBus(),
  mask: (value) => value,
  resultLimit: () => LARGEST_RESULT,
  decide: decideAlone,
};
