import type { AgentToolResult, ToolUpdateCallback } from "@tau/agent";
import { OutputBuffer } from "../../platform/output-buffer.ts";
import { processGroups } from "../../platform/process-groups.ts";
import { findShell } from "../../platform/shell.ts";
import { shellEnvironment } from "../../platform/shell-environment.ts";
import { runShellCommand, SpawnError } from "../../platform/spawn.ts";
import { characterStart, decodeTerminalBytes } from "../../platform/terminal-bytes.ts";
import { errorResult, type ToolEnvironment, textResult } from "../definition.ts";
import { type BashDetails, bashResult } from "./bash-result.ts";

/** Longest file of an output; two of them fill no disk, and no one reads more. */
export const MAX_FILE_BYTES = 100 * 1024 * 1024;

/** Least time between two updates: ten a second look alive. */
const UPDATE_MS = 100;

/** End of the output that an update shows. */
const UPDATE_BYTES = 8 * 1024;

export interface BashCall {
  environment: ToolEnvironment;
  command: string;
  /** Seconds; absent, zero and less mean the default. */
  timeout?: number;
  signal: AbortSignal;
  onUpdate: ToolUpdateCallback<BashDetails | undefined>;
}

/** Runs one call of the bash tool. Never rejects for anything the command does. */
export async function runBash(call: BashCall): Promise<AgentToolResult<BashDetails | undefined>> {
  const { environment, signal } = call;
  const groups = environment.processes ?? processGroups;
  if (call.command.includes("\0")) return errorResult("The command has a NUL character in it; it was not run.");
  if (signal.aborted || groups.disposed) return errorResult("Aborted before the command was started.");
  const output = new OutputBuffer({ directory: environment.tempDir, maxFileBytes: MAX_FILE_BYTES });
  const updates = startUpdates(output, call.onUpdate);
  const started = performance.now();
  const timeoutSeconds = secondsOf(call);
  try {
    const outcome = await runShellCommand({
      command: withPrefix(call.command, environment.settings.shellCommandPrefix),
      shell: findShell(environment.settings.shellPath, environment.env),
      cwd: environment.cwd,
      env: shellEnvironment(environment.env),
      tempDir: environment.tempDir,
      timeoutMs: timeoutSeconds * 1000,
      signal,
      groups,
      output,
      onOutput: updates.changed,
    });
    const durationMs = performance.now() - started;
    return bashResult({ command: call.command, cwd: environment.cwd, outcome, output, timeoutSeconds, durationMs });
  } catch (error) {
    if (error instanceof SpawnError) return errorResult(error.message);
    throw error;
  } finally {
    updates.stop();
  }
}

function secondsOf({ timeout, environment }: BashCall): number {
  return timeout !== undefined && timeout > 0 ? timeout : environment.settings.bashTimeoutSeconds;
}

export function withPrefix(command: string, prefix: string | undefined): string {
  return prefix ? `${prefix}\n${command}` : command;
}

/** Shows the end of the output while the command runs; a command that is done within the first pause shows nothing. */
function startUpdates(output: OutputBuffer, onUpdate: ToolUpdateCallback<BashDetails | undefined>) {
  let timer: NodeJS.Timeout | undefined;
  const show = () => {
    timer = undefined;
    const bytes = output.last(UPDATE_BYTES);
    const cut = output.totalBytes > bytes.length;
    onUpdate(textResult(decodeTerminalBytes(cut ? bytes.subarray(characterStart(bytes, 0)) : bytes), undefined));
  };
  return {
    changed: () => {
      timer ??= setTimeout(show, UPDATE_MS);
    },
    stop: () => clearTimeout(timer),
  };
}
