import type { ErrorKind, Usage } from "@tau/llm";
import type { LimitHit, LimitReached, RunFailure } from "./failure.ts";
import { failureText, limitText } from "./failure-text.ts";

/** A call that was refused because nobody was there to ask. */
export interface Denied {
  toolName: string;
  reason: string;
}

/** How a prompt ended, with the data of what went wrong and its words. */
export type RunEnding =
  | {
      status: "done";
      /** The answer of a prompt with a `schema`, which it fits. */
      data?: unknown;
    }
  | { status: "error"; failure: RunFailure; errorMessage: string; errorKind?: ErrorKind }
  | { status: "aborted"; reason?: string }
  | { status: "limit"; limit: LimitReached; params: LimitHit["params"]; message: string }
  | { status: "denied"; denied: Denied[] };

/** What a prompt gave and used, however it ended. */
export interface RunYield {
  /** The last whole answer; empty when there was none. */
  text: string;
  /** Tokens of all requests: attempts that failed and summaries included. */
  usage: Usage;
  /** US dollars. */
  cost: number;
}

/** How an accepted prompt ended: every way there is. The command line makes its exit code of it. */
export type RunOutcome = RunEnding & RunYield;

/** How a prompt with a `schema` ended; `Data` is the type that the schema stands for. */
export type DataOutcome<Data = unknown> = ({ status: "done"; data: Data } | Exclude<RunEnding, { status: "done" }>) &
  RunYield;

/** A prompt that failed. */
export function failed(failure: RunFailure): RunEnding {
  const { errorKind } = failure;
  return { status: "error", failure, errorMessage: failureText(failure), ...(errorKind && { errorKind }) };
}

/** A prompt that a limit ended. */
export function limited(hit: LimitHit): RunEnding {
  return { status: "limit", ...hit, message: limitText(hit) };
}
