import { spawn } from "node:child_process";
import { chmodSync } from "node:fs";
import { BoundedRecords } from "./bounded-records.ts";
import type { ProcessGroups } from "./process-groups.ts";
import { raiseOomScore, sendSignal } from "./process-tree.ts";
import { findOnPath, isExecutable } from "./shell.ts";

/** Longest record that is parsed; what is longer (one line of megabytes) is told of and not shown. */
const MAX_RECORD_BYTES = 8 * 1024 * 1024;

const MAX_STDERR_BYTES = 4096;

/** There is no ripgrep, or it could not be started; the message has the remedy. */
export class RipgrepError extends Error {
  override readonly name = "RipgrepError";
}

/** The program to run: the configured one, else rg on the PATH of `env`, else the one of the npm package. */
export async function findRipgrep(
  configured: string | undefined,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  if (configured !== undefined) {
    if (isExecutable(configured)) return configured;
    throw new RipgrepError(`ripgrep at ${configured} (setting ripgrepPath) is not an executable file.`);
  }
  return findOnPath("rg", env) ?? (await packagedRipgrep());
}

async function packagedRipgrep(): Promise<string> {
  let path: string;
  try {
    // Its platform package holds the binary; importing it throws when that one is not installed.
    path = (await import("@vscode/ripgrep")).rgPath;
    // Some installers lose the mode bits of files in packages.
    if (!isExecutable(path)) chmodSync(path, 0o755);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new RipgrepError(`ripgrep was not found. Install rg, or name it by the setting ripgrepPath. (${reason})`);
  }
  return path;
}

export interface RipgrepRun {
  program: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** ms. */
  timeoutMs: number;
  signal: AbortSignal;
  groups: ProcessGroups;
  /** The byte that ends a record of its output: LF for `--json`, NUL for `--null`. */
  separator: number;
  /** False stops the search: there is enough. `cut`: the record was longer than 8 MB and only its start is there. */
  onRecord(record: Buffer, cut: boolean): boolean;
}

export interface RipgrepOutcome {
  end: "done" | "enough" | "timeout" | "abort";
  /** ripgrep's exit code: 0 found, 1 nothing found, 2 an error; null when it was stopped. */
  code: number | null;
  /** The start of what it said on stderr. */
  stderr: string;
}

/** Runs ripgrep and hands on its records as they come. It has no stdin (R071), and ends with the session (R080). */
export function runRipgrep(run: RipgrepRun): Promise<RipgrepOutcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(run.program, [...run.args], {
      cwd: run.cwd,
      env: run.env,
      detached: process.platform !== "win32",
      windowsHide: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const { pid } = child;
    let end: RipgrepOutcome["end"] = "done";
    let stderr = "";
    raiseOomScore(pid);
    const stop = (reason: RipgrepOutcome["end"]) => {
      if (end !== "done") return;
      end = reason;
      child.stdout.destroy();
      if (pid !== undefined) sendSignal(pid, "SIGKILL");
    };
    const records = new BoundedRecords({ separator: run.separator, maxBytes: MAX_RECORD_BYTES }, (record, cut) => {
      if (end === "done" && !run.onRecord(record, cut)) stop("enough");
    });
    const onAbort = () => stop("abort");
    const timer = setTimeout(() => stop("timeout"), run.timeoutMs);
    const release = () => {
      clearTimeout(timer);
      run.signal.removeEventListener("abort", onAbort);
      if (pid !== undefined) run.groups.settle(pid, []);
    };
    run.signal.addEventListener("abort", onAbort, { once: true });
    if (run.signal.aborted) onAbort();
    if (pid !== undefined) run.groups.add({ pid, command: "rg", startedAt: Date.now() });
    child.stdout.on("data", (chunk: Buffer) => records.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => {
      if (stderr.length < MAX_STDERR_BYTES) stderr += chunk.toString("utf8");
    });
    child.on("error", (error) => {
      release();
      reject(new RipgrepError(`ripgrep (${run.program}) could not be started: ${error.message}`));
    });
    child.on("close", (code) => {
      if (end === "done") records.end();
      release();
      resolve({ end, code, stderr: stderr.slice(0, MAX_STDERR_BYTES) });
    });
  });
}
