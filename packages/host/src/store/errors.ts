/** Why a session file could not be used. */
export type SessionFileErrorCode =
  | "not_found"
  | "not_a_session"
  | "newer_version"
  | "unreadable"
  | "exists"
  | "bad_id"
  | "no_entry";

/** A session file that cannot be opened, made or copied; the message says what to do about it. */
export class SessionFileError extends Error {
  readonly code: SessionFileErrorCode;
  readonly path: string;

  constructor({ code, path, message }: { code: SessionFileErrorCode; path: string; message: string }) {
    super(message);
    this.name = "SessionFileError";
    this.code = code;
    this.path = path;
  }
}

/** The process that writes to a session. */
export interface LockOwner {
  pid: number;
  host: string;
  /** Whether it belongs to another machine or container, so that whether it lives cannot be seen from here. */
  elsewhere?: boolean;
}

export interface SessionLock {
  path: string;
  lockPath: string;
  /** Undefined when the lock could not be read. */
  owner: LockOwner | undefined;
  /** The id, when there is no file yet. */
  begins?: string;
}

/** Another process writes to this session. `owner` is undefined when its lock could not be read. */
export class SessionLockedError extends Error {
  readonly path: string;
  readonly lockPath: string;
  readonly owner: LockOwner | undefined;

  constructor({ path, lockPath, owner, begins }: SessionLock) {
    const who = owner ? `process ${owner.pid} on ${owner.host}` : "another process";
    const what = begins === undefined ? `session ${path} is being written` : `a session "${begins}" is being begun`;
    const other = begins === undefined ? "fork it (--fork), read it (--export)" : "give another --session-id";
    super(`${what} by ${who}: ${other}, ${remedyOf(owner)} ${lockPath}`);
    this.name = "SessionLockedError";
    this.path = path;
    this.lockPath = lockPath;
    this.owner = owner;
  }
}

function remedyOf(owner: LockOwner | undefined): string {
  if (!owner) return "or, when nothing writes to it, delete its lock";
  if (owner.elsewhere) return "or, when that machine or container does not run any more, delete its lock";
  return "or end that process; its lock is";
}
