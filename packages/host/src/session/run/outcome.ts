import type { AssistantMessage, ErrorKind } from "@tau/llm";

/** A budget or a limit of law T8 that ended a run. */
export type LimitReached =
  | "maxTurns"
  | "maxCost"
  | "maxTokens"
  | "timeout"
  | "maxConsecutiveLengthStops"
  | "maxIdenticalCalls"
  | "maxCallsPerMessage";

/** A call that was refused because nobody was there to ask. */
export interface Denied {
  toolName: string;
  reason: string;
}

/** How an accepted prompt ended: every way there is (law E6). The command line makes its exit code of it. */
export type RunOutcome =
  | { status: "done" }
  | { status: "error"; errorMessage: string; errorKind?: ErrorKind }
  | { status: "aborted"; reason?: string }
  | { status: "limit"; limit: LimitReached; message: string }
  | { status: "denied"; denied: Denied[] };

/** The error of a failed reply; a text is there even when the provider gave none. */
export function errorOutcome(message: AssistantMessage): RunOutcome {
  const errorMessage = message.errorMessage ?? "The provider gave no reason.";
  return { status: "error", errorMessage, ...(message.errorKind && { errorKind: message.errorKind }) };
}
