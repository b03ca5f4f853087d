import type { RunOutcome, SessionEvent } from "@tau/host";
import type { LineOutput } from "@tau/host/program";
import { terminalText } from "../../output/terminal-text.ts";
import type { Mode } from "../mode.ts";
import { failureOf, type OutcomeContext } from "../outcome.ts";
import { progressLine } from "./progress.ts";

export interface PrintModeOptions {
  readonly output: LineOutput;
  /** Stdout is a terminal: what it would act on is taken out of the answer (R135). */
  readonly toTerminal: boolean;
  /** Writes a line to stderr. */
  tell(text: string): void;
  /** Writes a line of progress; undefined when nobody wants any. */
  progress: ((line: string) => void) | undefined;
  /** Asked when a prompt has ended. */
  context(): OutcomeContext;
}

/** Print mode: the text of the last answer on stdout, all else on stderr. */
export function printMode({ output, toTerminal, tell, progress, context }: PrintModeOptions): Mode {
  let answer = "";
  const settle = (outcome: RunOutcome) => {
    const failure = failureOf(outcome, context());
    if (failure) tell(failure.told);
    // Half an answer is no answer; at a limit the last whole one is the partial result (R191).
    if (outcome.status === "error" || outcome.status === "aborted") answer = "";
  };
  return {
    onEvent(event: SessionEvent) {
      if (event.type === "message_end" && event.message.role === "assistant")
        answer = answerText(event.message) ?? answer;
      // Limits are told by the outcome, what is not saved at the end of the program: once each, as errors (R107, R191).
      if (event.type === "warning" && !event.settling) tell(`warning: ${event.message}`);
      // Another model answers than the one that was asked for: whoever reads the answer must know.
      if (event.type === "model_fallback")
        tell(`warning: ${event.from} failed, going on with ${event.to}: ${event.reason}`);
      if (event.type === "agent_settled" && event.outcome) settle(event.outcome);
      const line = progress && progressLine(event);
      if (line !== undefined) progress?.(line);
    },
    async finish() {
      const text = toTerminal ? terminalText(answer) : answer;
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
