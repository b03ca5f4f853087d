import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";

/** A process as the system lists it. */
export interface ProcessEntry {
  pid: number;
  parent: number;
  /** Process group. */
  group: number;
  session: number;
  /** Start time in the system's own notation: a pid with another start time is another process. */
  started: string;
}

/** All living processes; zombies are left out, since nothing can be done to them. Costs some 20 µs a process. */
export function listProcesses(): ProcessEntry[] {
  return process.platform === "linux" ? listProc() : listByPs();
}

/** The processes of the group or session that `root` leads or led, and all descendants of these and of `root`. */
export function findTree(root: number, processes: readonly ProcessEntry[]): ProcessEntry[] {
  const children = byParent(processes);
  const found = new Map<number, ProcessEntry>();
  const queue = processes.filter(({ pid, group, session }) => pid === root || group === root || session === root);
  queue.push(...(children.get(root) ?? []));
  for (let entry = queue.pop(); entry; entry = queue.pop()) {
    if (found.has(entry.pid) || entry.pid === process.pid) continue;
    found.set(entry.pid, entry);
    queue.push(...(children.get(entry.pid) ?? []));
  }
  return [...found.values()];
}

function byParent(processes: readonly ProcessEntry[]): Map<number, ProcessEntry[]> {
  const children = new Map<number, ProcessEntry[]>();
  for (const entry of processes) {
    const siblings = children.get(entry.parent);
    if (siblings) siblings.push(entry);
    else children.set(entry.parent, [entry]);
  }
  return children;
}

/** Whether anything is left in a process group, zombies included: one system call, for the common case. */
export function groupExists(group: number): boolean {
  return sendSignal(-group, 0);
}

/** Whether the very process of `entry` still runs: not a later one of the same pid, not a zombie. */
export function isRunning({ pid, started }: ProcessEntry): boolean {
  return process.platform === "linux" ? readProc(pid)?.started === started : sendSignal(pid, 0);
}

/** Sends a signal; false when there is no such process (any more). Negative numbers name groups. */
export function sendSignal(pid: number, signal: "SIGTERM" | "SIGKILL" | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    // EPERM: it is there and not ours, such as a setuid program.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Out of memory, the kernel looks for the process with the highest score: what tau started, not tau itself (R075). */
const OOM_SCORE = "500";

const OWN_SCORE = "/proc/self/oom_score_adj";

/**
 * Spawns a child that is the first to go when memory runs out. The score is tau's own for the moment of the spawn, since
 * a child begins with that of its parent: set later, the first commands would run without it. Linux only.
 */
export function spawnExpendable<Child>(spawn: () => Child): Child {
  const own = process.platform === "linux" ? raiseOwnScore() : undefined;
  try {
    return spawn();
  } finally {
    if (own !== undefined) writeFileSync(OWN_SCORE, own);
  }
}

/** The score of before; undefined when it stays, because it is as high already or must not be changed. */
function raiseOwnScore(): string | undefined {
  try {
    const own = readFileSync(OWN_SCORE, "latin1").trim();
    if (Number(own) >= Number(OOM_SCORE)) return undefined;
    writeFileSync(OWN_SCORE, OOM_SCORE);
    return own;
  } catch {
    // A /proc that cannot be written: nothing is lost but the order in which the kernel chooses.
    return undefined;
  }
}

/** Processes that have the file or pipe open as stdout or stderr. Linux only; elsewhere none are found. */
export function findWriters(file: { dev: number; ino: number }, processes: readonly ProcessEntry[]): ProcessEntry[] {
  if (process.platform !== "linux") return [];
  return processes.filter(
    ({ pid }) => pid !== process.pid && [1, 2].some((descriptor) => isOpenAs(pid, descriptor, file)),
  );
}

function isOpenAs(pid: number, descriptor: number, file: { dev: number; ino: number }): boolean {
  try {
    const stats = statSync(`/proc/${pid}/fd/${descriptor}`);
    return stats.ino === file.ino && stats.dev === file.dev;
  } catch {
    // Closed, ended, or another user's process.
    return false;
  }
}

function listProc(): ProcessEntry[] {
  const entries: ProcessEntry[] = [];
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    const entry = pid > 0 ? readProc(pid) : undefined;
    if (entry) entries.push(entry);
  }
  return entries;
}

/** proc(5): after the name in parentheses come state, ppid, pgrp, session …; the start time is field 22. */
function readProc(pid: number): ProcessEntry | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    // It ended between the listing and the look.
    return undefined;
  }
  const [state, parent, group, session, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (state === "Z" || state === "X") return undefined;
  return { pid, parent: Number(parent), group: Number(group), session: Number(session), started: rest[15] ?? "" };
}

function listByPs(): ProcessEntry[] {
  const { stdout } = spawnSync("ps", ["-axo", "pid=,ppid=,pgid=,stat=,lstart="], {
    encoding: "utf8",
    maxBuffer: 64 << 20,
  });
  return (stdout ?? "").split("\n").flatMap((line) => {
    const [pid, parent, group, state, ...started] = line.trim().split(/\s+/);
    if (!pid || state?.startsWith("Z")) return [];
    // macOS does not list session ids; a group of its own is the closest thing.
    return [
      {
        pid: Number(pid),
        parent: Number(parent),
        group: Number(group),
        session: Number(group),
        started: started.join(" "),
      },
    ];
  });
}
