import { OutputBuffer } from "../../platform/output-buffer.ts";
import { processGroups } from "../../platform/process-groups.ts";
import { findShell } from "../../platform/shell.ts";
import { shellEnvironment } from "../../platform/shell-environment.ts";
import { runShellCommand } from "../../platform/spawn.ts";
import type { ToolEnvironment } from "../definition.ts";
import { exitCodeOf } from "./bash-result.ts";
import { OutputFeed } from "./output-feed.ts";
import { MAX_FILE_BYTES, withPrefix } from "./run-bash.ts";
import { shownOutput } from "./shown-output.ts";
import type { UserCommandIo, UserCommandResult } from "./user-command-io.ts";

/** An output that is also handed on as it comes. */
class FedBuffer extends OutputBuffer {
  readonly #feed: OutputFeed;

  constructor(options: ConstructorParameters<typeof OutputBuffer>[0], feed: OutputFeed) {
    super(options);
    this.#feed = feed;
  }

  override write(chunk: Uint8Array): void {
    super.write(chunk);
    this.#feed.write(chunk);
  }
}

/** Runs one command of the user. @throws SpawnError and errors of the shell's choice, with what to do */
export async function runUserCommand(
  environment: ToolEnvironment,
  command: string,
  { signal, onOutput }: UserCommandIo,
): Promise<UserCommandResult> {
  if (command.includes("\0")) throw new Error("The command has a NUL character in it; it was not run.");
  const feed = new OutputFeed(onOutput);
  const output = new FedBuffer({ directory: environment.tempDir, maxFileBytes: MAX_FILE_BYTES }, feed);
  const outcome = await runShellCommand({
    command: withPrefix(command, environment.settings.shellCommandPrefix),
    shell: findShell(environment.settings.shellPath, environment.env),
    cwd: environment.cwd,
    env: shellEnvironment(environment.env),
    tempDir: environment.tempDir,
    timeoutMs: 0,
    signal,
    groups: environment.processes ?? processGroups,
    output,
  });
  const shown = shownOutput(output);
  if (outcome.background.length === 0) output.close();
  await feed.end();
  const truncated = shown.omittedBytes > 0;
  return {
    output: shown.text,
    ...(outcome.end === "exit" && { exitCode: exitCodeOf(outcome) }),
    cancelled: outcome.end === "abort",
    truncated,
    ...(truncated && output.filePath !== undefined && { fullOutputPath: output.filePath }),
  };
}
