import type { AgentMessage } from "@tau/agent";
import { type Summary, type SummaryModel, summarise } from "./summarise.ts";
import { collectTouchedFiles, describeTouchedFiles, type TouchedFiles, touchedFilesOf } from "./touched-files.ts";
import { describeMessage } from "./transcript-text.ts";

/** A compaction on the branch: what it summarised is known by its summary alone. */
const describe = (message: AgentMessage) =>
  message.role === "compactionSummary" ? `[Notes of what came before]\n${message.summary}` : describeMessage(message);

export interface BranchSummary extends Summary {
  readonly details: TouchedFiles;
}

/**
 * Summarises a branch that is being left, for a `branch_summary` entry.
 * @param messages the abandoned part, oldest first
 * @param instructions the user's words on what matters
 * @throws when the summary could not be made
 */
export async function summariseBranch(
  messages: readonly AgentMessage[],
  by: SummaryModel,
  instructions?: string,
): Promise<BranchSummary> {
  const details = collectTouchedFiles(messages, touchedFilesOf(undefined));
  const pieces = messages.map(describe).filter(Boolean);
  const { text, usage } = await summarise(pieces, { subject: "branch", ...(instructions ? { instructions } : {}) }, by);
  return { text: text + describeTouchedFiles(details), details, ...(usage ? { usage } : {}) };
}
