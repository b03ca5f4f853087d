import { cleanTerminalText, type LineOutput, type RunOutcome, type SessionEvent } from "@tau/host";
import type { EndSignal } from "../../exit-codes.ts";
import type { Mode } from "../mode.ts";
import { failureOf } from "../outcome.ts";
import { progressLine } from "./progress.ts";

export interface PrintModeOptions {
  readonly output: LineOutput;
  /** Stdout is a terminal: what it would act on is taken out of the answer (R135). */
  readonly toTerminal: boolean;
  /** Writes a line to stderr. */
  tell(text: string): void;
  /** Writes a line of progress; undefined when nobody wants any. */
  progress: ((line: string) => void) | undefined;
  signal(): EndSignal | undefined;
}

/** Print mode: the text of the last answer on stdout, all else on stderr. */
export function printMode({ output, toTerminal, tell, progress, signal }: PrintModeOptions): Mode {
  let answer = "";
  let warned = "";
  const settle = (outcome: RunOutcome) => {
    const failure = failureOf(outcome, signal());
    // A limit is announced as a warning when it is reached; once is enough.
    if (failure && failure.message !== warned) tell(failure.message);
    // Half an answer is no answer; at a limit the last whole one is the partial result (R191).
    if (outcome.status === "error" || outcome.status === "aborted") answer = "";
  };
  return {
    onEvent(event: SessionEvent) {
      if (event.type === "message_end" && event.message.role === "assistant")
        answer = answerText(event.message) ?? answer;
      if (event.type === "warning") {
        warned = event.message;
        tell(`warning: ${warned}`);
      }
      if (event.type === "agent_settled" && event.outcome) settle(event.outcome);
      const line = progress && progressLine(event);
      if (line !== undefined) progress?.(line);
    },
    async finish() {
      const text = toTerminal ? cleanTerminalText(answer) : answer;
      if (text !== "") await output.write(text.endsWith("\n") ? text : `${text}\n`);
      await output.flush();
    },
  };
}

type AssistantText = Extract<Extract<SessionEvent, { type: "message_end" }>["message"], { role: "assistant" }>;

/** Undefined for a reply that failed or that has calls only. */
function answerText({ content, stopReason }: AssistantText): string | undefined {
  if (stopReason === "error" || stopReason === "aborted") return undefined;
  return content.map((block) => (block.type === "text" ? block.text : "")).join("") || undefined;
}
