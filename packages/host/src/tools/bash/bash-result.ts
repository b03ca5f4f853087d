import { constants } from "node:os";
import type { AgentToolResult } from "@tau/agent";
import type { OutputBuffer } from "../../platform/output-buffer.ts";
import type { ShellOutcome } from "../../platform/spawn.ts";
import { needOfPerson, type PersonNeed } from "./person-need.ts";
import { type ShownOutput, shownOutput } from "./shown-output.ts";

/** What programs and screens can know of a bash call. */
export interface BashDetails {
  end: ShellOutcome["end"];
  /** As a shell reports it: 128 + n for signal n. Absent when tau ended the command. */
  exitCode?: number;
  signal?: string;
  durationMs: number;
  /** All bytes of stdout and stderr. */
  outputBytes: number;
  /** Bytes that the text of the result leaves out. */
  omittedBytes: number;
  /** The whole output; set when the text leaves something out, or a background process keeps writing. */
  outputFile?: string;
  /** Pids of processes that still run. */
  background?: number[];
  /** The command wanted a password or a terminal (R082). */
  needsPerson?: PersonNeed["kind"];
}

export interface BashRun {
  command: string;
  cwd: string;
  outcome: ShellOutcome;
  output: OutputBuffer;
  timeoutSeconds: number;
  durationMs: number;
}

/** What the model reads: the output, and in brackets below what it has to know besides. */
export function bashResult(run: BashRun): AgentToolResult<BashDetails> {
  const { outcome, output } = run;
  const shown = shownOutput(output);
  const exitCode = exitCodeOf(outcome);
  const isError = outcome.end !== "exit" || exitCode !== 0;
  const need = isError ? needOfPerson(shown.text) : undefined;
  if (outcome.background.length === 0) output.close();
  const notes = [endNote(run, exitCode), need?.hint, backgroundNote(run), directoryNote(run, shown)].filter(
    (note) => note !== undefined,
  );
  const body = shown.text === "" && notes.length === 0 ? "(no output)" : shown.text;
  const text = [body, notes.map((note) => `[${note}]`).join("\n")].filter((part) => part !== "").join("\n\n");
  const details: BashDetails = {
    end: outcome.end,
    durationMs: Math.round(run.durationMs),
    outputBytes: output.totalBytes,
    omittedBytes: shown.omittedBytes,
    ...(outcome.end === "exit" && { exitCode }),
    ...(outcome.end === "exit" && outcome.signal && { signal: outcome.signal }),
    ...(output.filePath !== undefined && { outputFile: output.filePath }),
    ...(outcome.background.length > 0 && { background: outcome.background.map(({ pid }) => pid) }),
    ...(need && { needsPerson: need.kind }),
  };
  return { content: [{ type: "text", text }], details, ...(isError && { isError }) };
}

export function exitCodeOf({ code, signal }: ShellOutcome): number {
  if (signal) return 128 + constants.signals[signal];
  return code ?? 0;
}

function endNote({ outcome, timeoutSeconds }: BashRun, exitCode: number): string | undefined {
  switch (outcome.end) {
    case "timeout":
      return (
        `timed out after ${timeoutSeconds} s, killed. If it needs longer, give a timeout; ` +
        "if it never ends, start it with & and its output to a file"
      );
    case "abort":
      return "aborted, killed";
    case "flood":
      return "killed: it wrote without end";
    case "exit":
      return exitCode === 0 ? undefined : `exit code ${exitCode}${signalNote(exitCode)}`;
  }
}

/** A shell reports a signal as 128 + n, also for the last command it waited for. */
function signalNote(exitCode: number): string {
  const name = Object.entries(constants.signals).find(([, number]) => number === exitCode - 128)?.[0];
  if (name === undefined || exitCode <= 128) return "";
  return name === "SIGKILL" ? ": SIGKILL, perhaps out of memory" : `: ${name}`;
}

function backgroundNote({ outcome, output }: BashRun): string | undefined {
  const { background } = outcome;
  if (background.length === 0) return undefined;
  const pids = background.slice(0, 10).map(({ pid }) => pid);
  const more = background.length > pids.length ? ` and ${background.length - pids.length} more` : "";
  const file = output.filePath === undefined ? "" : `; further output: ${output.filePath}`;
  return `still running in the background, until the session ends: pid ${pids.join(", ")}${more}${file}`;
}

/** A `cd` that did nothing else wanted to last, so its author has to hear that it does not (R083). */
function directoryNote({ command, cwd }: BashRun, shown: ShownOutput): string | undefined {
  if (shown.text !== "" || !/(^|[;&|\n])[^\S\n]*(cd|pushd|popd)\b/.test(command)) return undefined;
  return `cd does not last: the next call starts in ${cwd} again`;
}
