import { spawnSync } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import { findMarked } from "./command-mark.ts";
import { findTree, findWriters, isRunning, listProcesses, type ProcessEntry, sendSignal } from "./process-tree.ts";

/** Between SIGTERM and SIGKILL. Shorter than the second in which an abort must settle the run (law R8). */
const TERM_GRACE_MS = 500;

/** How often the end of a group is looked for during the grace. */
const POLL_MS = 10;

/** Rounds of SIGKILL: each finds what was forked while the one before it ran. */
const MAX_KILL_ROUNDS = 5;

/** A command whose processes may still live. */
export interface ProcessGroup {
  /** Pid of the shell, which is also its process group and session. */
  readonly pid: number;
  readonly command: string;
  /** ms since the epoch. */
  readonly startedAt: number;
  /** The pipe that is stdout and stderr: who holds it belongs to the command, also when it moved out of the tree. */
  readonly output?: { dev: number; ino: number } | undefined;
  /** What the environment of the command is marked by: who has it belongs to the command, wherever it moved. */
  readonly mark?: string;
  /** Set once the shell has ended and left processes behind: those that were there at that moment. */
  readonly background?: readonly ProcessEntry[];
}

/**
 * All process groups that a session started and that may still live: running commands and what finished ones left in
 * the background. The session ends them when it is disposed (R080, R089).
 */
export class ProcessGroups {
  readonly #groups = new Map<number, ProcessGroup>();
  #disposed = false;

  /** After `dispose` nothing new is to be started. */
  get disposed(): boolean {
    return this.#disposed;
  }

  add(group: ProcessGroup): void {
    this.#groups.set(group.pid, group);
  }

  /** The shell ended by itself; `left` are the processes that it left behind. */
  settle(pid: number, left: readonly ProcessEntry[]): void {
    const group = this.#groups.get(pid);
    if (group && left.length > 0) this.#groups.set(pid, { ...group, background: left });
    else this.#groups.delete(pid);
  }

  /** Running commands and those with living processes in the background. */
  list(): ProcessGroup[] {
    if ([...this.#groups.values()].some((group) => group.background)) this.#forgetEnded(listProcesses());
    return [...this.#groups.values()];
  }

  /** Ends one group and all its descendants: SIGTERM, a short grace, SIGKILL. At most some 0.6 s. */
  async terminate(pid: number): Promise<void> {
    const group = this.#groups.get(pid);
    if (!group) return;
    await endTrees([group]);
    this.#groups.delete(pid);
  }

  /** Ends everything that was started so far. */
  async endAll(): Promise<void> {
    const groups = [...this.#groups.values()];
    await endTrees(groups);
    for (const { pid } of groups) this.#groups.delete(pid);
  }

  /** Ends everything, for good. */
  dispose(): Promise<void> {
    this.#disposed = true;
    return this.endAll();
  }

  /** SIGKILL to everything at once, for the last moment of the process ("exit" handlers cannot wait). */
  killNow(): void {
    this.#disposed = true;
    killRounds([...this.#groups.values()]);
    this.#groups.clear();
  }

  #forgetEnded(processes: readonly ProcessEntry[]): void {
    for (const group of this.#groups.values()) {
      if (group.background && livingOf(group, processes).length === 0) this.#groups.delete(group.pid);
    }
  }
}

/** For tools that were made without a session of their own. */
export const processGroups = new ProcessGroups();

/**
 * What lives of a group. For a finished command only processes that were seen when it ended count, what shares their
 * groups or descends from them, and what has the mark: its pid may have been given to a stranger since.
 */
function livingOf(group: ProcessGroup, processes: readonly ProcessEntry[]): ProcessEntry[] {
  const marked = group.mark === undefined ? [] : findMarked(group.mark, processes);
  if (!group.background) {
    const writers = group.output ? findWriters(group.output, processes) : [];
    return withoutTwins([...findTree(group.pid, processes), ...writers, ...marked]);
  }
  const started = new Map(group.background.map((entry) => [entry.pid, entry.started]));
  const seen = processes.filter((entry) => started.get(entry.pid) === entry.started);
  const found = seen.flatMap((entry) => [
    entry,
    ...findTree(entry.group === group.pid ? group.pid : entry.pid, processes),
  ]);
  return withoutTwins([...found, ...marked]);
}

function withoutTwins(entries: readonly ProcessEntry[]): ProcessEntry[] {
  return [...new Map(entries.map((entry) => [entry.pid, entry])).values()];
}

async function endTrees(groups: readonly ProcessGroup[]): Promise<void> {
  if (groups.length === 0) return;
  if (process.platform === "win32") return endTreesOnWindows(groups);
  const found = livingIn(groups);
  signalAll(groups, found, "SIGTERM");
  const deadline = performance.now() + TERM_GRACE_MS;
  while (performance.now() < deadline && found.some(isRunning)) await wait(POLL_MS);
  killRounds(groups, found);
}

function endTreesOnWindows(groups: readonly ProcessGroup[]): void {
  for (const { pid } of groups) spawnSync("taskkill", ["/pid", String(pid), "/T", "/F"], { stdio: "ignore" });
}

/** `known` had been found before the SIGTERM: with their parents gone they could not be found again. */
function killRounds(groups: readonly ProcessGroup[], known: readonly ProcessEntry[] = []): void {
  if (process.platform === "win32") {
    endTreesOnWindows(groups);
    return;
  }
  for (let round = 0; round < MAX_KILL_ROUNDS; round++) {
    const processes = listProcesses();
    const started = new Map(processes.map((entry) => [entry.pid, entry.started]));
    const left = known.filter((entry) => started.get(entry.pid) === entry.started);
    const descendants = left.flatMap((entry) => findTree(entry.pid, processes));
    const found = [...groups.flatMap((group) => livingOf(group, processes)), ...left, ...descendants];
    if (found.length === 0) return;
    signalAll(groups, found, "SIGKILL");
  }
}

function livingIn(groups: readonly ProcessGroup[]): ProcessEntry[] {
  const processes = listProcesses();
  return groups.flatMap((group) => livingOf(group, processes));
}

/** A whole group by one call reaches members that were forked after the look; the others follow one by one. */
function signalAll(
  groups: readonly ProcessGroup[],
  found: readonly ProcessEntry[],
  signal: "SIGTERM" | "SIGKILL",
): void {
  const ours = new Set(groups.map(({ pid }) => pid));
  const living = new Set(found.map(({ group }) => group));
  for (const group of ours) if (living.has(group)) sendSignal(-group, signal);
  for (const { pid, group } of found) if (!ours.has(group)) sendSignal(pid, signal);
}
