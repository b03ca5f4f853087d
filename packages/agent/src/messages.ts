import type { Message, UserMessage } from "@tau/llm";

type Dated = { timestamp: number };
type Run = { command: string; output: string; exitCode?: number; cancelled: boolean };
type Kept = { truncated: boolean; fullOutputPath?: string; excludeFromContext?: boolean };
type Shown = { content: UserMessage["content"]; display: boolean; details?: unknown };

/** A command that the user ran himself. */
export type BashExecutionMessage = { role: "bashExecution" } & Run & Kept & Dated;
/** Stands for the messages that a compaction summarised. */
export type CompactionSummaryMessage = { role: "compactionSummary"; summary: string; tokensBefore: number } & Dated;
/** Stands for a branch that was left. */
export type BranchSummaryMessage = { role: "branchSummary"; summary: string; fromId: string | null } & Dated;
/** A message of an extension; `details` never reach the model. */
export type CustomMessage = { role: "custom"; customType: string } & Shown & Dated;

/** Open for more roles by declaration merging. */
export interface CustomAgentMessages {
  bashExecution: BashExecutionMessage;
  compactionSummary: CompactionSummaryMessage;
  branchSummary: BranchSummaryMessage;
  custom: CustomMessage;
}

/** Everything a transcript may hold; only `Message` reaches a provider. */
export type AgentMessage = Message | CustomAgentMessages[keyof CustomAgentMessages];
