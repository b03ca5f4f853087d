import type { SessionEvent } from "@tau/host";
import { callSummary, printableName } from "@tau/host/program";
import { terminalText } from "../../output/terminal-text.ts";

/** Longest line of progress, in characters: it should not wrap in a usual terminal. */
const MAX_LINE = 100;

type Lines = {
  readonly [T in SessionEvent["type"]]?: (event: Extract<SessionEvent, { type: T }>) => string | undefined;
};

/** What is worth a line on stderr while a person waits; all other events have none. */
const LINES: Lines = {
  tool_execution_start: ({ toolName, args }) => `> ${toolName} ${summaryText(toolName, args)}`,
  tool_execution_end: ({ toolName, isError, result }) =>
    isError
      ? `! ${toolName}: ${result.content.map((block) => (block.type === "text" ? block.text : "")).join(" ")}`
      : undefined,
  tool_denied: ({ toolName, reason }) => `! ${toolName} denied: ${reason}`,
  auto_retry_start: ({ attempt, maxAttempts, delayMs, errorMessage }) =>
    `~ the request failed; retry ${attempt} of ${maxAttempts} in ${Math.ceil(delayMs / 1000)} s: ${errorMessage}`,
  compaction_start: ({ reason }) => `~ compacting the context (${reason})`,
};

/** The line of an event, made safe for a terminal and short; undefined when it has none. */
export function progressLine(event: SessionEvent): string | undefined {
  const make = LINES[event.type] as ((event: SessionEvent) => string | undefined) | undefined;
  const text = make?.(event);
  return text === undefined ? undefined : oneLine(text);
}

/** Text on one line without anything that a terminal would act on (R135). */
function oneLine(text: string, max = MAX_LINE): string {
  const line = terminalText(text.slice(0, max * 10))
    .replace(/\s+/g, " ")
    .trim();
  return line.length > max ? `${line.slice(0, max - 1)}…` : line;
}

/** What a call does, as escapes: a command must not hide a part of itself in a sequence that a terminal shows nothing of. */
function summaryText(name: string, args: Record<string, unknown>): string {
  const summary = callSummary({ name, args });
  return printableName(summary.slice(0, MAX_LINE * 10).replace(/[\n\t]/g, " "));
}
