import type { AssistantMessage, Model, ThinkingLevel, Tool, ToolResultMessage } from "@tau/llm";
import type { Head } from "./config.ts";
import type { AgentEvent } from "./events.ts";
import type { AgentMessage } from "./messages.ts";

/** Where a run stands, as far as its events tell (law X5). */
export type AgentPhase = "idle" | "building_context" | "processing_stream" | "executing_tool" | "turn_complete";

/** What is counted over the runs of a conversation. */
export interface Tally {
  phase: AgentPhase;
  turnCount: number;
  totalTokens: number;
  /** US dollars. */
  totalCost: number;
  /** The last run was aborted. */
  isInterrupted: boolean;
  /** Results of the last batch. */
  lastToolResults: ToolResultMessage[];
}

/** How a run stood that a snapshot was taken of. */
export interface Suspended {
  isStreaming: boolean;
  streamingMessage?: AssistantMessage | undefined;
  pendingToolCalls: string[];
  phase: AgentPhase;
}

/** Plain JSON (law R7). */
export interface AgentSnapshot extends Tally, Suspended {
  systemPrompt: string;
  model: Model;
  thinkingLevel: ThinkingLevel;
  tools: (Tool & { label: string })[];
  messages: AgentMessage[];
  errorMessage?: string | undefined;
  steering: AgentMessage[];
  followUp: AgentMessage[];
  head?: Head;
}

export const newTally = (): Tally => ({
  phase: "idle",
  turnCount: 0,
  totalTokens: 0,
  totalCost: 0,
  isInterrupted: false,
  lastToolResults: [],
});

const PHASES: Partial<Record<AgentEvent["type"], AgentPhase>> = {
  turn_start: "building_context",
  message_update: "processing_stream",
  tool_execution_start: "executing_tool",
  turn_end: "turn_complete",
};

export function tallied(tally: Tally, event: AgentEvent): void {
  tally.phase = PHASES[event.type] ?? tally.phase;
  if (event.type !== "turn_end") return;
  const { usage } = event.message;
  tally.turnCount++;
  tally.totalTokens += usage.totalTokens;
  tally.totalCost += usage.cost.total;
  if (event.toolResults.length > 0) tally.lastToolResults = event.toolResults;
}
