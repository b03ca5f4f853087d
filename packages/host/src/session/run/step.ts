import type { AgentMessage, LimitName } from "@tau/agent";
import type { AssistantMessage } from "@tau/llm";
import type { AcceptedMessage } from "../queues/session-queue.ts";
import type { RunEnding } from "./outcome.ts";

/** How the agent is started. */
export type Start = { type: "prompt"; messages: readonly (AgentMessage | AcceptedMessage)[] } | { type: "continue" };

/** What a step of a chain leads to: another run, or the end. */
export type Step = { start: Start } | { ending: RunEnding };

/** How one run of the agent ended. */
export interface RunEnd {
  /** The newest reply of the run. */
  readonly reply?: AssistantMessage;
  readonly limit?: LimitName;
}

/** The request is made again with what the context now has; a retry invents no message (law R3). */
export const CONTINUE: Step = { start: { type: "continue" } };

const HINT_TYPE = "tau.hint";

/** A run that begins with a word of the session to the model; never shown as the user's. */
export function hinted(content: string, timestamp: number): Step {
  const hint = { role: "custom", customType: HINT_TYPE, content, display: false, timestamp } as const;
  return { start: { type: "prompt", messages: [hint] } };
}
