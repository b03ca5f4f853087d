import type { Agent, AgentSnapshot } from "@tau/agent";
import type { ModelChoice } from "../models/model-choice.ts";
import type { OpenQuestion, Questions } from "../permission/questions.ts";
import type { SessionQueue } from "../queues/session-queue.ts";
import type { Transcript } from "./transcript.ts";

/** What the snapshot of a session adds to the agent's. */
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
const NO_STATE: SavedState = { fileReadCache: {}, extensionStates: {} };

interface SnapshotParts {
  readonly transcript: Transcript;
  readonly models: ModelChoice;
  readonly questions: Questions;
  readonly queues: SessionQueue;
  readonly agent: Agent;
  readonly reload: () => void;
  readonly saveState: (() => SavedState) | undefined;
}

/** Takes snapshots of a session, and takes them over. */
export class Snapshots {
  readonly #parts: SnapshotParts;
  /** Of a snapshot that was taken over: it holds until a run begins. */
  #restored: { questions: OpenQuestion[]; state: SavedState } | undefined;

  constructor(parts: SnapshotParts) {
    this.#parts = parts;
  }

  take(): SessionSnapshot {
    const { transcript, agent, questions, queues, saveState } = this.#parts;
    const { store } = transcript;
    const state = this.#restored?.state ?? saveState?.() ?? NO_STATE;
    return {
      agent: { ...agent.snapshot(), ...queues.list() },
      ...(store.path !== undefined && { sessionPath: store.path }),
      sessionId: store.header.id,
      currentNodeId: store.leafId,
      branchStack: store.branch().map(({ id }) => id),
      ...state,
      openQuestions: this.#restored?.questions ?? questions.open,
    };
  }

  /** Questions of the snapshot are not asked again: their calls are closed by the next run (C9). */
  restore({ agent, currentNodeId, fileReadCache, extensionStates, openQuestions }: SessionSnapshot): void {
    const { transcript, queues, models, reload } = this.#parts;
    if (currentNodeId !== transcript.store.leafId) transcript.store.moveLeaf(currentNodeId);
    reload();
    this.#parts.agent.restore(agent);
    models.setModel(agent.model);
    models.setLevel(agent.thinkingLevel);
    queues.restore(agent);
    this.#restored = { questions: openQuestions, state: { fileReadCache, extensionStates } };
  }

  /** A run begins: what was restored is over. */
  forget(): void {
    this.#restored = undefined;
  }
}
