import type { AgentMessage } from "@tau/agent";
import type { EntryDraft } from "../../store/entries.ts";
import { CALL_STARTED_RECORD } from "../../store/tau-record-types.ts";

/** What a message of the loop is written as. */
type MessageDraft = Extract<EntryDraft, { type: "message" | "custom_message" }>;

/** The entry of a message: its `message_end` is the only trigger (law F2). Undefined for the two roles that are views of entries of their own. */
export function messageDraft(message: AgentMessage): MessageDraft | undefined {
  switch (message.role) {
    case "compactionSummary":
    case "branchSummary":
      return undefined;
    case "custom": {
      const { customType, content, display, details } = message;
      const draft = { type: "custom_message", customType, content, display } as const;
      return details === undefined ? draft : { ...draft, details };
    }
    default:
      return { type: "message", message };
  }
}

/** Written right before a tool runs, so that a reopened session knows what may have run in part (law F10). */
export function callStarted(toolCallId: string, toolName: string): EntryDraft {
  return { type: "custom", customType: CALL_STARTED_RECORD, data: { toolCallId, toolName } };
}
