import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, statSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { type CommandIntake, readOutput } from "./command-intake.ts";
import { findMarked, findYoungMarked, markEnvironment } from "./command-mark.ts";
import type { OutputBuffer } from "./output-buffer.ts";
import { type OutputPipe, outputPipes } from "./output-pipe.ts";
import type { ProcessGroups } from "./process-groups.ts";
import {
  findTree,
  findWriters,
  groupExists,
  isRunning,
  listProcesses,
  type ProcessEntry,
  spawnExpendable,
} from "./process-tree.ts";
import { invocationOf, type Shell, type ShellInvocation } from "./shell.ts";
import { reasonOf } from "./thrown.ts";

/** How long a killed shell may take to be gone; only a process stuck in the kernel needs it. */
const KILLED_WAIT_MS = 300;

/** How long what has closed its output is taken for something that is about to end, and how often it is looked at. */
const HELPER_END_MS = 100;
const HELPER_POLL_MS = 5;

/** How often what a command leaves behind is listed until the list holds. */
const MAX_LEFT_LOOKS = 4;

/** Output so long is not output: the command is ended. Far above what a build prints. */
const FLOOD_BYTES = 8 * 1024 ** 3;

const MAX_TIMEOUT_MS = 2 ** 31 - 1;

export interface ShellCommand {
  command: string;
  shell: Shell;
  cwd: string;
  /** The whole environment of the command. */
  env: Readonly<Record<string, string>>;
  /** For a command that does not fit into an argument. */
  tempDir: string;
  /** 0 means none. */
  timeoutMs: number;
  signal: AbortSignal;
  /** Knows the processes for as long as they may live. */
  groups: ProcessGroups;
  /** Takes stdout and stderr, in the order they were written (on Linux; by chunks elsewhere). */
  output: OutputBuffer;
  /** Called after every chunk. */
  onOutput?: () => void;
}

/** The one way a command ended. */
type ShellEnd = "exit" | "timeout" | "abort" | "flood";

export interface ShellOutcome {
  end: ShellEnd;
  /** Null when a signal ended the shell, or it was killed for time-out, abort or flood. */
  code: number | null;
  signal: NodeJS.Signals | null;
  /** What lives on after the shell ended by itself. Its further output goes to the file of `output`. */
  background: readonly ProcessEntry[];
}

/** The command could not be started; the message names the cause (R085). */
export class SpawnError extends Error {
  override readonly name = "SpawnError";
}

/**
 * Runs a command in a session and process group of its own, without stdin and without a terminal. Resolves when the
 * shell has ended, no matter who still holds its output (R070), or after time-out, abort or flood, when the whole tree
 * has been killed: at most a second later (R087). Rejects with `SpawnError` only.
 */
export async function runShellCommand(options: ShellCommand): Promise<ShellOutcome> {
  const pipe = await outputPipes.open();
  const invocation = prepare(options, pipe);
  try {
    const { env, mark } = markEnvironment(options.env);
    const { child, pid } = await start({ ...options, env }, invocation, pipe);
    return await supervise(options, { child, pid, pipe, mark });
  } finally {
    invocation.release();
  }
}

interface Started {
  child: ChildProcess;
  pid: number;
  pipe: OutputPipe | undefined;
  /** In the environment of the command. */
  mark: string;
}

function prepare(options: ShellCommand, pipe: OutputPipe | undefined): ShellInvocation {
  try {
    return invocationOf(options.shell, options.command, options.tempDir);
  } catch (error) {
    discard(pipe);
    throw new SpawnError(`The command could not be handed to the shell: ${reasonOf(error)}`);
  }
}

async function start(
  options: ShellCommand,
  invocation: ShellInvocation,
  pipe: OutputPipe | undefined,
): Promise<{ child: ChildProcess; pid: number }> {
  try {
    const child = spawnExpendable(() =>
      spawn(options.shell.path, [...invocation.args], {
        cwd: options.cwd,
        env: options.env,
        // Makes a session and a process group (setsid): no terminal to steal, and one id to kill all by (R081).
        detached: process.platform !== "win32",
        windowsHide: true,
        stdio: pipe ? ["ignore", pipe.writer, pipe.writer] : ["ignore", "pipe", "pipe"],
      }),
    );
    if (child.pid === undefined) await once(child, "spawn");
    if (child.pid === undefined) throw new Error("no process id");
    pipe?.closeWriter();
    return { child, pid: child.pid };
  } catch (error) {
    discard(pipe);
    throw new SpawnError(spawnProblem(options, error));
  }
}

function discard(pipe: OutputPipe | undefined): void {
  pipe?.closeWriter();
  pipe?.destroy();
}

async function supervise(options: ShellCommand, { child, pid, pipe, mark }: Started): Promise<ShellOutcome> {
  const { groups, output } = options;
  const race = raceOfEnds(child, options);
  const intake = readOutput(child, pipe, (chunk) => {
    output.write(chunk);
    options.onOutput?.();
    if (output.totalBytes > FLOOD_BYTES) race.decide("flood");
  });
  groups.add({ pid, command: options.command, startedAt: Date.now(), output: pipe?.file, mark });
  try {
    const end = await race.end;
    if (end !== "exit") {
      intake.curb();
      await groups.terminate(pid);
      await Promise.race([race.exited, wait(KILLED_WAIT_MS, undefined, { ref: false })]);
    }
    const closed = await intake.drain();
    output.seal();
    if (end === "exit" && closed) await groupGone(pid);
    const background = end === "exit" ? await leftBehind(pid, mark, closed ? undefined : pipe) : [];
    groups.settle(pid, background);
    if (background.length > 0 && !closed) follow(intake, output);
    else intake.destroy();
    return { end, code: child.exitCode, signal: child.signalCode, background };
  } finally {
    race.stop();
  }
}

interface EndRace {
  end: Promise<ShellEnd>;
  exited: Promise<void>;
  decide(end: ShellEnd): void;
  stop(): void;
}

/** All the ways a command can end, in one race. */
function raceOfEnds(child: ChildProcess, { signal, timeoutMs }: ShellCommand): EndRace {
  let decide: (end: ShellEnd) => void = () => undefined;
  const end = new Promise<ShellEnd>((resolve) => {
    decide = resolve;
  });
  const onAbort = () => decide("abort");
  const timer = timeoutMs > 0 ? setTimeout(() => decide("timeout"), Math.min(timeoutMs, MAX_TIMEOUT_MS)) : undefined;
  const exited = new Promise<void>((done) => child.once("exit", () => done()));
  exited.then(() => decide("exit"));
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  const stop = () => {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  };
  return { end, exited, decide: (reason) => decide(reason), stop };
}

/** A helper that has just written its last word may take a moment to be gone; one that runs on is worth the wait. */
async function groupGone(pid: number): Promise<void> {
  if (process.platform === "win32") return;
  const deadline = performance.now() + HELPER_END_MS;
  while (groupExists(pid) && performance.now() < deadline) await wait(HELPER_POLL_MS);
}

/**
 * The living processes of a command whose shell has ended. When the group is empty, the pipe is closed and nothing
 * younger has the mark, there are none; else the process list is searched. What passes on its work and ends, as daemons
 * do at their start, is not what stays: it is looked for until all that was found is still there after a pause.
 */
async function leftBehind(
  pid: number,
  mark: string,
  heldPipe: OutputPipe | undefined,
): Promise<readonly ProcessEntry[]> {
  if (process.platform === "win32") return [];
  let found: ProcessEntry[] = [];
  for (let look = 0; look < MAX_LEFT_LOOKS; look++) {
    const young = new Set(await findYoungMarked(mark, pid));
    if (!heldPipe && !groupExists(pid) && young.size === 0) return [];
    found = belongingTo({ pid, mark, young }, heldPipe, listProcesses());
    await wait(HELPER_POLL_MS);
    if (found.length > 0 && found.every(isRunning)) return found;
  }
  return found;
}

function belongingTo(
  { pid, mark, young }: { pid: number; mark: string; young: ReadonlySet<number> },
  heldPipe: OutputPipe | undefined,
  processes: readonly ProcessEntry[],
): ProcessEntry[] {
  const writers = heldPipe ? findWriters(heldPipe.file, processes) : [];
  const moved = processes.filter((entry) => young.has(entry.pid));
  const found = [...findTree(pid, processes), ...writers, ...moved, ...findMarked(mark, processes)];
  return [...new Map(found.map((entry) => [entry.pid, entry])).values()];
}

/** The output of what runs on goes to the file: whoever wants to know can read it there, and no writer is stopped. */
function follow(intake: CommandIntake, output: OutputBuffer): void {
  output.saveToFile();
  intake.follow(() => {
    output.close();
    intake.destroy();
  });
}

function spawnProblem({ cwd, shell }: ShellCommand, error: unknown): string {
  const problem = directoryProblem(cwd);
  if (problem) return `The working directory ${cwd} ${problem}.`;
  return `The shell ${shell.path} could not be started: ${reasonOf(error)}`;
}

/** ENOENT of a spawn names the program even when it is the directory that is missing (R085). */
function directoryProblem(cwd: string): string | undefined {
  try {
    if (!statSync(cwd).isDirectory()) return "is not a directory";
    accessSync(cwd, constants.X_OK);
    return undefined;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT") return "does not exist";
    return code === "EACCES" ? "cannot be entered: permission denied" : `cannot be used: ${reasonOf(error)}`;
  }
}
