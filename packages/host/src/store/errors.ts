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
}

/** Another process writes to this session (law F9). `owner` is undefined when its lock could not be read. */
export class SessionLockedError extends Error {
  readonly path: string;
  readonly lockPath: string;
  readonly owner: LockOwner | undefined;

  constructor({ path, lockPath, owner }: { path: string; lockPath: string; owner: LockOwner | undefined }) {
    const who = owner ? `process ${owner.pid} on ${owner.host}` : "another process";
    super(
      `session ${path} is being written by ${who}: fork it (--fork), open it read-only, or end that process` +
        ` (its lock is ${lockPath})`,
    );
    this.name = "SessionLockedError";
    this.path = path;
    this.lockPath = lockPath;
    this.owner = owner;
  }
}

/** The text of something thrown, with its code where it has one. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The `code` of a system error, e.g. ENOSPC. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
