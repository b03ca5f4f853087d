import type { AgentSnapshot } from "@tau/agent";
import type { OpenQuestion } from "../permission/questions.ts";

/** What the snapshot of a session adds to the agent's (law R7). */
export interface HostSnapshot {
  /** Absent for a session in memory. */
  sessionPath?: string;
  sessionId: string;
  /** The leaf. */
  currentNodeId: string | null;
  /** Entry ids from the root to the leaf. */
  branchStack: string[];
  /** What the tools remember of the files they read, as `saveState` of the options gave it. */
  fileReadCache: Record<string, unknown>;
  /** State of extensions, by name. */
  extensionStates: Record<string, unknown>;
  openQuestions: OpenQuestion[];
}

/** A session as plain JSON; `restore` of a session on the same file takes it. */
export interface SessionSnapshot extends HostSnapshot {
  agent: AgentSnapshot;
}

/** What a session keeps for others between two processes. */
export type SavedState = Pick<HostSnapshot, "fileReadCache" | "extensionStates">;

/** For a session whose tools and extensions keep nothing. */
export const NO_STATE: SavedState = { fileReadCache: {}, extensionStates: {} };
