import type { ImageContent, TextContent, Tool } from "@tau/llm";

/** What a tool gives back. `details` are for programs and screens, never for the model. */
export interface AgentToolResult<Details = unknown> {
  content: (TextContent | ImageContent)[];
  details: Details;
  isError?: boolean;
  /** When every result of a batch asks for it, the run ends (law T6). */
  terminate?: boolean;
}

export type ToolUpdateCallback<Details = unknown> = (partialResult: AgentToolResult<Details>) => void;

/** A tool that the loop can run. `args` are validated against `parameters` before `execute` sees them (C7). */
export interface AgentTool<Args = Record<string, unknown>, Details = unknown> extends Tool {
  /** For people. */
  label: string;
  /** Mends what models are known to get wrong; sees the arguments before they are validated. */
  prepareArguments?(args: Record<string, unknown>): Record<string, unknown>;
  execute(
    toolCallId: string,
    args: Args,
    signal: AbortSignal,
    onUpdate: ToolUpdateCallback<Details>,
  ): Promise<AgentToolResult<Details>>;
  /** One sequential tool makes its whole batch sequential (C4). */
  executionMode?: "sequential" | "parallel";
}
