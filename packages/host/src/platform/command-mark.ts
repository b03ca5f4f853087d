import { randomBytes } from "node:crypto";
import { openSync, readdirSync, readFileSync, readlinkSync, readSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import type { ProcessEntry } from "./process-tree.ts";

/**
 * The variable that tells which command a process comes from. Who left the tree, the process group, the session and the
 * output of its command still has its environment. Linux shows that of the user's own processes; elsewhere nobody is
 * found by it.
 */
const MARK_VARIABLE = "TAU_COMMAND";

/** How often what is not clear is looked at, and the pause before the next look. */
const MAX_LOOKS = 4;
const LOOK_MS = 2;

export interface MarkedEnvironment {
  readonly env: Record<string, string>;
  /** In the environment of this command and of what it starts, and of nothing else. */
  readonly mark: string;
}

/** Puts a new mark into the environment of a command. A tau that runs in a command keeps the mark of that one too. */
export function markEnvironment(env: Readonly<Record<string, string>>): MarkedEnvironment {
  const mark = randomBytes(8).toString("hex");
  const outer = env[MARK_VARIABLE];
  return { env: { ...env, [MARK_VARIABLE]: outer ? `${outer} ${mark}` : mark }, mark };
}

/** Those of `processes` that have the mark. Some 20 µs for each one looked at. */
export function findMarked(mark: string, processes: readonly ProcessEntry[]): ProcessEntry[] {
  return processes.filter(({ pid }) => hasMark(pid, mark));
}

/**
 * Pids with the mark among the processes that are younger than `pid`. Cheap enough for the end of every command: only
 * what was started meanwhile is read. What forks while it is looked at, or is just about to become another program, is
 * looked at again.
 */
export async function findYoungMarked(mark: string, pid: number): Promise<number[]> {
  if (process.platform !== "linux") return [];
  let seen = pid;
  let unclear: number[] = [];
  for (let look = 0; look < MAX_LOOKS; look++) {
    if (unclear.length > 0) await wait(LOOK_MS);
    const last = lastPid();
    const young = [...unclear, ...pidsBetween(seen, last)];
    const environments = young.map((each) => ({ pid: each, text: readOf(each, "environ") }));
    const found = environments.filter(({ text }) => text.includes(mark));
    if (found.length > 0) return found.map((each) => each.pid);
    unclear = environments
      .filter(({ text, pid: each }) => text === "" && isBecomingAnother(each))
      .map((each) => each.pid);
    if (unclear.length === 0 && lastPid() === last) return [];
    seen = last;
  }
  return [];
}

/** The kernel gives pids out in rising order, and begins anew at the end of its range. */
function pidsBetween(first: number, last: number): number[] {
  const isBetween =
    last < first ? (pid: number) => pid > first || pid <= last : (pid: number) => pid > first && pid <= last;
  return first === last ? [] : readdirSync("/proc").map(Number).filter(isBetween);
}

const loadText = Buffer.alloc(128);
let loadFile: number | undefined;

/** proc(5): the last field of /proc/loadavg is the pid that was given out last. Kept open: each command reads it twice. */
function lastPid(): number {
  try {
    loadFile ??= openSync("/proc/loadavg", "r");
    const length = readSync(loadFile, loadText, 0, loadText.length, 0);
    return Number(loadText.toString("latin1", 0, length).trim().split(" ").at(-1));
  } catch {
    // A /proc without it: pids are taken for rising.
    return Number.POSITIVE_INFINITY;
  }
}

function hasMark(pid: number, mark: string): boolean {
  return readOf(pid, "environ").includes(mark);
}

/** In the middle of an exec a process has no environment to show; a zombie has none for good. */
function isBecomingAnother(pid: number): boolean {
  const stat = readOf(pid, "stat");
  return stat !== "" && !/^ [ZX]/.test(stat.slice(stat.lastIndexOf(")") + 1)) && !isOfKernel(pid);
}

/** Threads of the kernel have no program at all. */
function isOfKernel(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/exe`) === "";
  } catch {
    return true;
  }
}

/** Empty when it ended meanwhile, or is another user's. */
function readOf(pid: number, name: "environ" | "stat"): string {
  if (process.platform !== "linux") return "";
  try {
    return readFileSync(`/proc/${pid}/${name}`, "latin1");
  } catch {
    return "";
  }
}
