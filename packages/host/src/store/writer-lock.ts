import {
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { codeOf } from "../platform/thrown.ts";
import { type LockOwner, SessionLockedError } from "./errors.ts";

/** Held by the one process that may write to a session (law F9). */
export interface WriterLock {
  readonly path: string;
  /** Whether another process took it over, which it does when this one slept for minutes on another machine. */
  readonly lost: boolean;
  /** Idempotent. @throws SessionLockedError when another writer has it; a system error when it cannot be made. */
  acquire(): void;
  /** Idempotent; never throws. */
  release(): void;
}

// Whether a process of another machine or container lives cannot be seen from here: it shows by touching its lock.
const REFRESH_MS = 30_000;
const SILENT_MS = 300_000;
const MAX_TRIES = 20;

/** The lock's folder, beside the session file. */
export function lockPathOf(sessionPath: string): string {
  return `${sessionPath}.lock`;
}

/**
 * The lock is a folder with one empty file in it, whose name is the owner: pid, start time, pid namespace, host, and
 * a random part. Each step is one atomic rename:
 * - acquire: a folder that has the owner file already is renamed to the lock's name, which fails while that folder
 *   exists and is not empty;
 * - take over: the dead owner's file is renamed to one's own name. The old name is unique, so of any number of
 *   processes that saw the same dead owner exactly one succeeds.
 * A lock with a file and its content, as most lock packages have, needs a second look after a delay for that.
 */
export function createWriterLock(sessionPath: string): WriterLock {
  const path = lockPathOf(sessionPath);
  let held: HeldLock | undefined;
  return {
    path,
    get lost() {
      return held?.lost ?? false;
    },
    acquire() {
      held ??= acquire(sessionPath, path);
    },
    release() {
      held?.release();
      held = undefined;
    },
  };
}

/** The live owner of a session's lock; undefined when nobody writes to it. */
export function writerOf(sessionPath: string): LockOwner | undefined {
  const path = lockPathOf(sessionPath);
  const name = ownerFile(path);
  const owner = name === undefined ? undefined : parseOwner(name);
  return owner && isAlive(owner, join(path, owner.name)) ? owner : undefined;
}

class HeldLock {
  lost = false;
  readonly #path: string;
  readonly #file: string;
  readonly #timer: NodeJS.Timeout;

  constructor(path: string, name: string) {
    this.#path = path;
    this.#file = join(path, name);
    this.#timer = setInterval(() => this.#refresh(), REFRESH_MS);
    this.#timer.unref();
    if (heldLocks.size === 0) process.once("exit", releaseAll);
    heldLocks.add(this);
  }

  release(): void {
    clearInterval(this.#timer);
    heldLocks.delete(this);
    if (heldLocks.size === 0) process.off("exit", releaseAll);
    // Gone or taken over is as good as released.
    attempt(() => unlinkSync(this.#file));
    attempt(() => rmdirSync(this.#path));
  }

  #refresh(): void {
    const now = new Date();
    try {
      utimesSync(this.#file, now, now);
    } catch (error) {
      this.lost = codeOf(error) === "ENOENT";
    }
  }
}

const heldLocks = new Set<HeldLock>();

function releaseAll(): void {
  for (const lock of heldLocks) lock.release();
}

function acquire(sessionPath: string, path: string): HeldLock {
  const name = ownName();
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    if (createLock(path, name)) return new HeldLock(path, name);
    const found = ownerFile(path);
    // Released between the two looks.
    if (found === undefined) continue;
    const owner = parseOwner(found);
    if (!owner || isAlive(owner, join(path, found)))
      throw new SessionLockedError({ path: sessionPath, lockPath: path, owner });
    if (takeOver(path, found, name)) return new HeldLock(path, name);
  }
  throw new SessionLockedError({ path: sessionPath, lockPath: path, owner: undefined });
}

function createLock(path: string, name: string): boolean {
  const draft = `${path}.${name}`;
  mkdirSync(draft, { mode: 0o700 });
  try {
    writeFileSync(join(draft, name), "", { mode: 0o600 });
    return renameOverEmpty(draft, path);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Renames a folder to a name that is free or an empty folder's. */
function renameOverEmpty(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (!TAKEN.has(codeOf(error) ?? "")) throw error;
    // Windows never renames onto a folder; an empty one is in the way of no one.
    if (process.platform === "win32") attempt(() => rmdirSync(to));
    return false;
  }
}

const TAKEN: ReadonlySet<string> = new Set([
  "ENOTEMPTY",
  "EEXIST",
  ...(process.platform === "win32" ? ["EPERM", "EACCES"] : []),
]);

function takeOver(path: string, dead: string, name: string): boolean {
  try {
    renameSync(join(path, dead), join(path, name));
    return true;
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    return false;
  }
}

function ownerFile(path: string): string | undefined {
  try {
    const names = readdirSync(path);
    return names.find((name) => parseOwner(name) !== undefined) ?? names[0];
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

interface NamedOwner extends LockOwner {
  name: string;
  start: string;
  namespace: string;
  elsewhere: boolean;
}

function ownName(): string {
  const random = Math.floor(Math.random() * 0x1_0000_0000).toString(16);
  return [process.pid, startOf(process.pid) ?? "0", pidNamespace(), hostPart(), random].join("_");
}

function parseOwner(name: string): NamedOwner | undefined {
  const [pid = "", start = "", namespace = "", host = "", random] = name.split("_");
  if (!/^[1-9]\d*$/.test(pid) || random === undefined) return undefined;
  const elsewhere = host !== hostPart() || namespace !== pidNamespace();
  return { name, pid: Number(pid), start, namespace, host, elsewhere };
}

function isAlive(owner: NamedOwner, file: string): boolean {
  if (owner.elsewhere) return wasTouchedLately(file);
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    // EPERM: it lives and is someone else's.
    return codeOf(error) === "EPERM";
  }
  const start = startOf(owner.pid);
  if (start === "dead") return false;
  return start === undefined || owner.start === "0" || start === owner.start;
}

function wasTouchedLately(file: string): boolean {
  try {
    return Date.now() - statSync(file).mtimeMs < SILENT_MS;
  } catch (error) {
    return codeOf(error) !== "ENOENT";
  }
}

/**
 * When a process began, in clock ticks since boot; tells a pid from its later reuse. "dead" for one that only waits
 * to be reaped. Linux only.
 */
function startOf(pid: number): string | undefined {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, "latin1"));
  // The second field is the command in parentheses and may hold anything.
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields?.[0] === "Z" ? "dead" : fields?.[19];
}

/** Two containers can share a host name and number their processes alike. Linux only. */
function pidNamespace(): string {
  return attempt(() => readlinkSync("/proc/self/ns/pid"))?.replace(/\D/g, "") ?? "0";
}

function hostPart(): string {
  return (
    hostname()
      .replace(/[^A-Za-z0-9.-]/g, "-")
      .slice(0, 64) || "localhost"
  );
}

/** The result, or undefined when the system refused: for what may fail without harm. */
function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return undefined;
  }
}
