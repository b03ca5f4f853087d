import type { AgentEvent } from "@tau/agent";
import type { CompactionReason, CompactionResult } from "../../compaction/compactor.ts";
import type { RunOutcome } from "../run/outcome.ts";

/** Where a run stands. */
export type Phase =
  | "idle"
  | "building_context"
  | "calling_llm"
  | "processing_stream"
  | "checking_permission"
  | "waiting_for_approval"
  | "executing_tool"
  | "turn_complete"
  | "waiting_for_input";

/** Events of the session itself, beside those of the loop. */
export type HostEvent =
  | { type: "agent_settled"; aborted: boolean; outcome?: RunOutcome }
  | { type: "queue_update"; steering: string[]; followUp: string[] }
  | { type: "phase"; from: Phase; to: Phase }
  | {
      type: "permission_request";
      id: string;
      toolCallId: string;
      toolName: string;
      args: Record<string, unknown>;
      reason: string;
    }
  | {
      type: "permission_resolved";
      id: string;
      decision: "allow" | "deny";
      scope?: "once" | "session" | "always";
      reason?: string;
    }
  | { type: "tool_denied"; toolCallId: string; toolName: string; reason: string }
  | { type: "auto_retry_start"; attempt: number; maxAttempts: number; delayMs: number; errorMessage: string }
  | { type: "auto_retry_end"; success: boolean; attempt: number; finalError?: string }
  | { type: "model_fallback"; from: string; to: string; reason: string }
  | { type: "compaction_start"; reason: CompactionReason }
  | {
      type: "compaction_end";
      reason: CompactionReason;
      result?: CompactionResult;
      aborted: boolean;
      willRetry: boolean;
      errorMessage?: string;
    }
  /** Output of a command that the user runs, as it comes; `id` is that of the `bash` command. */
  | { type: "bash_execution_update"; id?: string | number; delta: string }
  | { type: "session_info_changed"; name?: string }
  | { type: "thinking_level_changed"; level: string }
  | { type: "model_changed"; provider: string; modelId: string }
  /** `settling`: what the prompt's end says too, by its outcome or the state of the file. */
  | { type: "warning"; message: string; settling?: true };

/** What a front end sees: the loop's events and the supervisor's, in one order. */
export type SessionEvent = AgentEvent | HostEvent;
