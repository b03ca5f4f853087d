import type { ImageContent, TextContent, Tool } from "@tau/llm";

/**
 * What a tool gives back. `details` are for programs and screens, never for the model. When every result of a batch
 * asks for `terminate`, the run ends.
 */
export interface AgentToolResult<Details = unknown> {
  content: (TextContent | ImageContent)[];
  details: Details;
  isError?: boolean;
  terminate?: boolean;
}

export type ToolUpdateCallback<Details = unknown> = (partialResult: AgentToolResult<Details>) => void;

/** A tool that the loop can run; `label` is for people. */
export interface AgentTool<Args = Record<string, unknown>, Details = unknown> extends Tool {
  label: string;
  /** Fixes what models are known to get wrong, before the arguments are validated. */
  prepareArguments?(args: Record<string, unknown>): Record<string, unknown>;
  /** @param args validated against `parameters`, and the tool's own */
  execute(
    toolCallId: string,
    args: Args,
    signal: AbortSignal,
    onUpdate: ToolUpdateCallback<Details>,
  ): Promise<AgentToolResult<Details>>;
  /** One sequential tool makes its whole batch sequential. */
  executionMode?: "sequential" | "parallel";
}
