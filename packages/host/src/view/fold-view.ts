import type { AgentMessage } from "@tau/agent";
import { type AssistantMessage, emptyAssistantMessage, foldWireEvent, type Usage } from "@tau/llm";
import { assertNever } from "../platform/assert-never.ts";
import {
  extended,
  type RunningCall,
  type ViewEvent,
  type ViewItem,
  type ViewState,
  type ViewUsage,
} from "./view-state.ts";

/**
 * The view after one more event of the session: a pure function. An event costs the same at the first turn and at the
 * ten-thousandth; only what it concerns is new in the state that it gives.
 */
export function foldView(view: ViewState, event: ViewEvent): ViewState {
  switch (event.type) {
    case "agent_start":
      return { ...view, running: true, outcome: undefined, retry: undefined };
    case "agent_end":
    case "turn_start":
    case "bash_execution_update":
      return view;
    case "turn_end":
      return { ...view, runningCalls: new Map(), endedCalls: undefined };
    case "message_start":
      return { ...view, arriving: event.message };
    case "message_update":
      return { ...view, arriving: arrivingMessage(view, event) };
    case "message_end":
      return endMessage(view, event.message);
    case "tool_execution_start":
    case "tool_execution_update":
    case "tool_execution_end":
      return foldCall(view, event);
    case "listener_error":
      return notice(view, "warning", `A listener of ${event.event} failed: ${event.error}`);
    case "agent_settled":
      return { ...view, ...SETTLED, running: false, outcome: event.outcome };
    case "queue_update":
      return { ...view, queue: { steering: event.steering, followUp: event.followUp } };
    case "phase":
      return { ...view, phase: event.to };
    case "permission_request":
    case "permission_resolved":
    case "tool_denied":
      return foldQuestion(view, event);
    case "auto_retry_start":
    case "auto_retry_end":
    case "model_fallback":
    case "compaction_start":
    case "compaction_end":
      return foldRecovery(view, event);
    case "session_info_changed":
      return { ...view, name: event.name };
    case "thinking_level_changed":
      return { ...view, thinkingLevel: event.level };
    case "model_changed":
      return { ...view, model: { provider: event.provider, modelId: event.modelId } };
    case "warning":
      return notice(view, "warning", event.message);
    default:
      // A session of a newer version may send what this one does not know.
      return assertNever(event, view);
  }
}

type EventOf<T extends ViewEvent["type"]> = Extract<ViewEvent, { type: T }>;

const SETTLED = {
  arriving: undefined,
  runningCalls: new Map<string, RunningCall>(),
  endedCalls: undefined,
  questions: [],
  retry: undefined,
  compacting: undefined,
} as const;

function show(view: ViewState, item: ViewItem): ViewState {
  return { ...view, history: extended(view.history, item) };
}

function notice(view: ViewState, level: "info" | "warning", text: string): ViewState {
  return show(view, { kind: "notice", level, text });
}

function arrivingMessage({ arriving }: ViewState, event: EventOf<"message_update">): AssistantMessage {
  if (event.message) return event.message;
  const before = arriving?.role === "assistant" ? arriving : emptyAssistantMessage(UNKNOWN_MODEL, 0);
  return foldWireEvent(before, event.assistantMessageEvent);
}

/** For deltas whose `message_start` was missed. */
const UNKNOWN_MODEL = { id: "", api: "", provider: "" };

function endMessage(view: ViewState, message: AgentMessage): ViewState {
  const shown = show({ ...view, arriving: undefined }, { kind: "message", message });
  return message.role === "assistant" ? { ...shown, usage: withRequest(view.usage, message.usage) } : shown;
}

function withRequest(sum: ViewUsage, usage: Usage): ViewUsage {
  return {
    requests: sum.requests + 1,
    input: sum.input + usage.input,
    output: sum.output + usage.output,
    cacheRead: sum.cacheRead + usage.cacheRead,
    cacheWrite: sum.cacheWrite + usage.cacheWrite,
    cost: sum.cost + usage.cost.total,
  };
}

type CallEvent = EventOf<"tool_execution_start" | "tool_execution_update" | "tool_execution_end">;

/** The map of running calls is copied: it is as large as the calls that run side by side, not as the batch. */
function foldCall(view: ViewState, event: CallEvent): ViewState {
  const { toolCallId, toolName } = event;
  const runningCalls = new Map(view.runningCalls);
  if (event.type === "tool_execution_end") {
    runningCalls.delete(toolCallId);
    const { result, isError, durationMs } = event;
    const ended = { toolCallId, toolName, result, isError, durationMs };
    return { ...view, runningCalls, endedCalls: extended(view.endedCalls, ended) };
  }
  const partialResult = event.type === "tool_execution_update" ? event.partialResult : undefined;
  runningCalls.set(toolCallId, { toolCallId, toolName, args: event.args, partialResult });
  return { ...view, runningCalls };
}

function foldQuestion(
  view: ViewState,
  event: EventOf<"permission_request" | "permission_resolved" | "tool_denied">,
): ViewState {
  switch (event.type) {
    case "permission_request": {
      const { type: _type, ...question } = event;
      return { ...view, questions: [...view.questions, question] };
    }
    case "permission_resolved":
      return { ...view, questions: view.questions.filter(({ id }) => id !== event.id) };
    case "tool_denied":
      return notice(view, "warning", `${event.toolName} was denied: ${event.reason}`);
  }
}

type RecoveryEvent = EventOf<
  "auto_retry_start" | "auto_retry_end" | "model_fallback" | "compaction_start" | "compaction_end"
>;

function foldRecovery(view: ViewState, event: RecoveryEvent): ViewState {
  switch (event.type) {
    case "auto_retry_start": {
      const { type: _type, ...retry } = event;
      return { ...view, retry };
    }
    case "auto_retry_end":
      return { ...view, retry: undefined };
    case "model_fallback":
      return notice(view, "warning", `${event.from} failed; ${event.to} continues: ${event.reason}`);
    case "compaction_start":
      return { ...view, compacting: event.reason };
    case "compaction_end": {
      const over = { ...view, compacting: undefined };
      if (event.errorMessage !== undefined) return notice(over, "warning", `Compaction failed: ${event.errorMessage}`);
      return event.result ? notice(over, "info", "The older part of the conversation was summarized.") : over;
    }
  }
}
