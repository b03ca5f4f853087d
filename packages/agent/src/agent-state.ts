import type { AssistantMessage, Model, ThinkingLevel, Tool, ToolResultMessage } from "@tau/llm";
import { declaration } from "@tau/llm/head";
import type { FirstHead } from "./config.ts";
import type { AgentEvent } from "./events.ts";
import type { AgentMessage } from "./messages.ts";
import type { QueuedMessages } from "./queue.ts";
import type { AgentTool } from "./tool.ts";
import { detach } from "./values.ts";

/** Where a run stands, as far as its events say (law X5). */
type AgentPhase = "idle" | "building_context" | "processing_stream" | "executing_tool" | "turn_complete";

/** What the next run works with. Assignable; changes during a run hold from the next one (law B9). */
interface Choice {
  systemPrompt: string;
  model: Model;
  thinkingLevel: ThinkingLevel;
  tools: AgentTool[];
  messages: AgentMessage[];
}

/** How far the runs came. */
interface Progress {
  isStreaming: boolean;
  streamingMessage?: AssistantMessage | undefined;
  phase: AgentPhase;
  /** Ids of the calls that are running. */
  pendingToolCalls: Set<string>;
  /** Over all runs. */
  turnCount: number;
  totalTokens: number;
  /** US dollars. */
  totalCost: number;
  /** The last run was aborted. */
  isInterrupted: boolean;
  /** The last run failed. */
  errorMessage?: string | undefined;
  /** Of the last batch. */
  lastToolResults: ToolResultMessage[];
}

export type AgentState = Choice & Progress;

/** Plain JSON. */
export type AgentSnapshot = Omit<AgentState, "tools" | "pendingToolCalls"> & QueuedMessages & Declared;
type Declared = { tools: (Tool & { label: string })[]; pendingToolCalls: string[]; head?: FirstHead };

/** How a run stood that a restored snapshot was taken of. */
export type Suspended = Pick<AgentSnapshot, "isStreaming" | "streamingMessage" | "pendingToolCalls" | "phase">;

export type InitialState = Partial<Omit<Choice, "model">> & Pick<Choice, "model">;

export function initialState(given: InitialState): AgentState {
  const { systemPrompt = "", thinkingLevel = "off", model, tools = [], messages = [] } = given;
  const choice: Choice = { systemPrompt, thinkingLevel, model, tools: [...tools], messages: [...messages] };
  return { ...choice, ...unused(), isStreaming: false, pendingToolCalls: new Set() };
}

/** A state of no runs. */
export function unused() {
  const lastToolResults: ToolResultMessage[] = [];
  return { phase: "idle" as const, turnCount: 0, totalTokens: 0, totalCost: 0, isInterrupted: false, lastToolResults };
}

/** A copy as plain JSON. */
export function snapshotOf(
  state: AgentState,
  queued: QueuedMessages,
  { head, suspended }: { head: FirstHead | undefined; suspended: Suspended | undefined },
): AgentSnapshot {
  const tools = state.tools.map((tool) => ({ ...declaration(tool), label: tool.label }));
  const pendingToolCalls = [...state.pendingToolCalls];
  const snapshot: AgentSnapshot = { ...state, tools, pendingToolCalls, ...queued, ...suspended };
  if (head) snapshot.head = head;
  return detach(snapshot);
}

/** Takes over a snapshot of our own; its tools are found by name among the present ones. */
export function restoreState(state: AgentState, snapshot: AgentSnapshot): void {
  const { tools, pendingToolCalls: _pending, isStreaming: _on, streamingMessage: _partial, ...rest } = snapshot;
  const { steering: _steering, followUp: _followUp, queueIds: _ids, head: _head, ...own } = rest;
  const gone = () => Promise.reject(new Error("This tool is not available any more."));
  const present = new Map(state.tools.map((tool) => [tool.name, tool]));
  const found = tools.map((tool) => present.get(tool.name) ?? { ...tool, execute: gone });
  Object.assign(state, { errorMessage: undefined, ...own, tools: found });
}

const PHASES: Partial<Record<AgentEvent["type"], AgentPhase>> = {
  turn_start: "building_context",
  message_update: "processing_stream",
  tool_execution_start: "executing_tool",
  turn_end: "turn_complete",
};

/** What an event does to the state, before listeners see it (L1). */
export function reduce(state: AgentState, event: AgentEvent): void {
  state.phase = PHASES[event.type] ?? state.phase;
  if (event.type === "tool_execution_start") state.pendingToolCalls.add(event.toolCallId);
  if (event.type === "tool_execution_end") state.pendingToolCalls.delete(event.toolCallId);
  if (event.type === "message_end") state.messages.push(event.message);
  if (event.type === "turn_end") countTurn(state, event);
  else if ("message" in event && event.message.role === "assistant")
    state.streamingMessage = event.type === "message_end" ? undefined : event.message;
}

function countTurn(state: AgentState, { message, toolResults }: Extract<AgentEvent, { type: "turn_end" }>): void {
  const { usage, stopReason, errorMessage } = message;
  if (stopReason === "error" || stopReason === "aborted") state.errorMessage = errorMessage ?? stopReason;
  if (toolResults.length > 0) state.lastToolResults = toolResults;
  state.turnCount++;
  state.totalTokens += usage.totalTokens;
  state.totalCost += usage.cost.total;
}
