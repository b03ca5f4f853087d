import { RpcClient } from "./client.ts";

export interface SpawnClientOptions {
  /** The program, e.g. `tau`, or `node` with the command file as first argument. */
  readonly command: string;
  /** Arguments before `--mode rpc`. */
  readonly args?: readonly string[];
  /** Working directory of the session. */
  readonly cwd: string;
  /** The whole environment of the program. */
  readonly env: Readonly<Record<string, string>>;
}

/** Enough of what the program said last to know why it ended. */
const STDERR_CHARACTERS = 2_000;

/** Starts a program in RPC mode. What goes wrong at its start shows with the first command. */
export async function spawnRpcClient({ command, args = [], cwd, env }: SpawnClientOptions): Promise<RpcClient> {
  const { spawn } = await import("node:child_process");
  const child = spawn(command, [...args, "--mode", "rpc"], { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-STDERR_CHARACTERS);
  });
  const ended = new Promise<string>((resolve) => {
    child.on("error", (error) => resolve(error.message));
    child.on("close", (code, signal) =>
      resolve([signal ?? `exit code ${code}`, said.trim()].filter(Boolean).join(": ")),
    );
  });
  return new RpcClient({ input: child.stdin, output: child.stdout, ended, kill: () => void child.kill("SIGKILL") });
}
