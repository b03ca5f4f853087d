import type { ChildProcess } from "node:child_process";

/** How long a command may take, in milliseconds. A key store that asks the user needs some seconds. */
const TIMEOUT_MS = 30_000;
/** More than this is not a key. */
const MAX_OUTPUT_BYTES = 1 << 20;
const MAX_SAID = 200;

export interface SecretCommandOptions {
  /** The whole environment of the command. */
  readonly variables: Readonly<Record<string, string>>;
  /** Ends the command with all that it started. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a command of a configuration file by the shell, without input; gives its output. Rejects when it fails, with how
 * it ended and the first line of what it said on stderr: the reason, where later ones are hints and traces. It is a
 * process group of its own, which is killed when it takes too long, is aborted, or this process ends: it outlives none.
 */
export async function runSecretCommand(command: string, { variables, signal }: SecretCommandOptions): Promise<string> {
  const { spawn } = await import("node:child_process");
  const [file = "/bin/sh", ...flags] = process.platform === "win32" ? ["cmd.exe", "/d", "/s", "/c"] : ["/bin/sh", "-c"];
  if (signal?.aborted) throw new Error("it was stopped");
  const child = spawn(file, [...flags, command], {
    env: variables,
    stdio: ["ignore", "pipe", "pipe"],
    detached: process.platform !== "win32",
    windowsHide: true,
  });
  const kill = () => killGroup(child);
  process.once("exit", kill);
  try {
    const { end, stdout, stderr } = await outcomeOf(child, signal);
    if (end === undefined) return stdout;
    const said = stderr.trim().split("\n")[0]?.trim().slice(0, MAX_SAID) ?? "";
    throw new Error(said === "" ? end : `${end} and said "${said}"`);
  } finally {
    process.removeListener("exit", kill);
    kill();
  }
}

interface CommandOutcome {
  /** How it failed; undefined when it did not. */
  readonly end: string | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** All the ways a command can end, in one race. */
function outcomeOf(child: ChildProcess, signal: AbortSignal | undefined): Promise<CommandOutcome> {
  const chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  let size = 0;
  return new Promise((resolve) => {
    const finish = (end: string | undefined) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
      const text = (of: readonly Buffer[]) => Buffer.concat(of).toString("utf8");
      resolve({ end, stdout: text(chunks.stdout), stderr: text(chunks.stderr) });
    };
    const stop = () => finish("it was stopped");
    const timer = setTimeout(() => finish(`it took longer than ${TIMEOUT_MS / 1000} s`), TIMEOUT_MS);
    signal?.addEventListener("abort", stop, { once: true });
    for (const name of ["stdout", "stderr"] as const) {
      child[name]?.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > MAX_OUTPUT_BYTES) finish(`its output is over ${MAX_OUTPUT_BYTES >> 20} MB, which is not a key`);
        else chunks[name].push(chunk);
      });
    }
    child.once("error", (error) => finish(`it could not be started: ${error.message}`));
    child.once("close", (code, signalName) =>
      finish(code === 0 ? undefined : `it ended with ${signalName ?? `exit code ${code}`}`),
    );
  });
}

/** Kills what is left of the command; its output is let go of, for one that left its group and holds it. */
function killGroup(child: ChildProcess): void {
  child.stdout?.destroy();
  child.stderr?.destroy();
  if (child.pid === undefined) return;
  try {
    if (process.platform === "win32") child.kill("SIGKILL");
    else process.kill(-child.pid, "SIGKILL");
  } catch (error) {
    // ESRCH: all of it has ended, which is the rule.
    if (!(error instanceof Error && "code" in error)) throw error;
  }
}
