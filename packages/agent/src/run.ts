import type { StreamFn } from "@tau/llm";
import type { AgentContext, AgentLoopConfig, Emit, Head } from "./config.ts";
import type { Told } from "./head.ts";
import type { AgentMessage } from "./messages.ts";
import type { CallIds, PairRepair } from "./repair.ts";
import type { RepeatedCalls } from "./repetition.ts";
import type { Cutoff } from "./waiting.ts";

/** What the parts of one run share. */
export interface Run {
  /** As `prepareNextTurn` left it. */
  config: AgentLoopConfig;
  /** The run's own copies (B9); messages are appended here. */
  context: AgentContext;
  readonly streamFn: StreamFn;
  /** Never fails; see `serialEmit`. */
  readonly emit: Emit;
  /** All messages of this run (T4). */
  readonly added: AgentMessage[];
  /** Another one after an interrupt (R10). */
  cutoff: Cutoff;
  /** What each request begins with; empty when the transcript begins with a system message (B8). */
  head: Head;
  told: Told;
  ids: CallIds;
  readonly repair: PairRepair;
  readonly repeated: RepeatedCalls;
  /** Counted for law T8. */
  readonly counts: { turns: number; lengthStops: number; emptyReplies: number };
}

/** A copy whose list the receiver may change. */
export const copyContext = ({ context }: Run): AgentContext => ({ ...context, messages: context.messages.slice() });
