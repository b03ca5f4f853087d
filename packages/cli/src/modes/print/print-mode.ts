import type { RunOutcome, SessionEvent } from "@tau/host";
import type { LineOutput } from "@tau/host/program";
import type { Mode } from "../mode.ts";
import { failureOf, type OutcomeContext } from "../outcome.ts";
import { LiveAnswer } from "./live-answer.ts";
import { progressLine } from "./progress.ts";

export interface PrintModeOptions {
  readonly output: LineOutput;
  /**
   * Stdout is a terminal: replies are shown while they come, without what a terminal would act on (R135, R265). Else the
   * last answer is written when all is done.
   */
  readonly toTerminal: boolean;
  /** Writes a line to stderr. */
  tell(text: string): void;
  /** Writes a line of progress; undefined when nobody wants any. */
  progress: ((line: string) => void) | undefined;
  /** Asked when a prompt has ended. */
  context(): OutcomeContext;
  /** The last line of progress: what answered, what it cost, how to continue. */
  closing?(): string;
}

/** Print mode: the text of the last answer on stdout, all else on stderr. */
export function printMode(options: PrintModeOptions): Mode {
  const { output, toTerminal, context, closing } = options;
  let answer = "";
  const live = toTerminal ? new LiveAnswer((text) => output.write(text)) : undefined;
  const tell = (text: string) => {
    void live?.endLine();
    options.tell(text);
  };
  const progress = (line: string) => {
    void live?.endLine();
    options.progress?.(line);
  };
  const settle = (outcome: RunOutcome) => {
    const failure = failureOf(outcome, context());
    if (failure) tell(failure.told);
    // Half an answer is not an answer; at a limit the last whole one is the partial result (R191).
    if (outcome.status === "error" || outcome.status === "aborted") answer = "";
  };
  return {
    onEvent(event: SessionEvent) {
      const written = live?.onEvent(event);
      if (event.type === "message_end" && event.message.role === "assistant")
        answer = answerText(event.message) ?? answer;
      // Limits are reported by the outcome, what is not saved at the end of the program: once each, as errors (R107, R191).
      if (event.type === "warning" && !event.settling) tell(`warning: ${event.message}`);
      // Another model answers than the one that was asked for: whoever reads the answer must know.
      if (event.type === "model_fallback")
        tell(`warning: ${event.from} failed, continuing with ${event.to}: ${event.reason}`);
      if (event.type === "agent_settled" && event.outcome) settle(event.outcome);
      const line = options.progress && progressLine(event);
      if (line !== undefined) progress(line);
      return written;
    },
    async finish() {
      if (live) await live.endLine();
      else if (answer !== "") await output.write(answer.endsWith("\n") ? answer : `${answer}\n`);
      await output.flush();
      if (closing && options.progress) progress(closing());
    },
  };
}

type AssistantText = Extract<Extract<SessionEvent, { type: "message_end" }>["message"], { role: "assistant" }>;

/** Undefined for a reply that failed or that has calls only. */
function answerText({ content, stopReason }: AssistantText): string | undefined {
  if (stopReason === "error" || stopReason === "aborted") return undefined;
  return content.map((block) => (block.type === "text" ? block.text : "")).join("") || undefined;
}
