import type { ImageContent, TextContent, Tool } from "@tau/llm";

/**
 * What a tool gives back. `details` are for programs and screens, never for the model. When every result of a batch
 * asks for `terminate`, the run ends (law T6).
 */
export interface AgentToolResult<Details = unknown> {
  content: (TextContent | ImageContent)[];
  details: Details;
  isError?: boolean;
  terminate?: boolean;
}

export type ToolUpdateCallback<Details = unknown> = (partialResult: AgentToolResult<Details>) => void;
type Run<Args, Details> = [id: string, args: Args, signal: AbortSignal, onUpdate: ToolUpdateCallback<Details>];

/** A tool that the loop can run; `label` is for people. `args` are validated against `parameters` before `execute` sees them (C7). */
export interface AgentTool<Args = Record<string, unknown>, Details = unknown> extends Tool {
  label: string;
  /** Mends what models are known to get wrong, before the arguments are validated. */
  prepareArguments?(args: Record<string, unknown>): Record<string, unknown>;
  execute(...run: Run<Args, Details>): Promise<AgentToolResult<Details>>;
  /** One sequential tool makes its whole batch sequential (C4). */
  executionMode?: "sequential" | "parallel";
}
