import type { AgentEvent, AgentMessage } from "@tau/agent";
import type { EntryDraft } from "../store/entries.ts";

/** Written right before a tool runs, so that a reopened session knows what may have run in part (law F10). */
export const CALL_STARTED = "tau.call_started";

/** The entry of a message; undefined for the two roles that are views of entries of their own. */
export function messageDraft(message: AgentMessage): EntryDraft | undefined {
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

/** What an event of the loop leaves in the file: `message_end` is the only trigger for messages (law F2). */
export function entryOf(event: AgentEvent): EntryDraft | undefined {
  return event.type === "message_end" ? messageDraft(event.message) : undefined;
}

/** The record of a call that is about to run. */
export function callStarted(toolCallId: string, toolName: string): EntryDraft {
  return { type: "custom", customType: CALL_STARTED, data: { toolCallId, toolName } };
}
