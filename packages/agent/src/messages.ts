import type { ImageContent, Message, TextContent } from "@tau/llm";

/** A command that the user ran himself. */
export interface BashExecutionMessage {
  role: "bashExecution";
  command: string;
  output: string;
  exitCode?: number;
  cancelled: boolean;
  truncated: boolean;
  fullOutputPath?: string;
  excludeFromContext?: boolean;
  timestamp: number;
}

/** Stands for the messages that a compaction summarised. */
export interface CompactionSummaryMessage {
  role: "compactionSummary";
  summary: string;
  tokensBefore: number;
  timestamp: number;
}

/** Stands for a branch that was left. */
export interface BranchSummaryMessage {
  role: "branchSummary";
  summary: string;
  fromId: string | null;
  timestamp: number;
}

/** A message of an extension; `details` never reach the model. */
export interface CustomMessage {
  role: "custom";
  customType: string;
  content: string | (TextContent | ImageContent)[];
  display: boolean;
  details?: unknown;
  timestamp: number;
}

/** Open for more roles by declaration merging (law B2). */
export interface CustomAgentMessages {
  bashExecution: BashExecutionMessage;
  compactionSummary: CompactionSummaryMessage;
  branchSummary: BranchSummaryMessage;
  custom: CustomMessage;
}

/** Everything a transcript may hold; only `Message` reaches a provider. */
export type AgentMessage = Message | CustomAgentMessages[keyof CustomAgentMessages];
