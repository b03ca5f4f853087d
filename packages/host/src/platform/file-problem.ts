import { codeOf } from "./thrown.ts";
/**
 * A file operation that cannot be done, told so that the model (or the user) knows what to do next. `code` is the
 * system's own code (`ENOENT`, …) or one of ours (`NOT_A_FILE`, `CHANGED`, …).
 */
export class FileProblem extends Error {
  override readonly name = "FileProblem";
  readonly code: string;

  constructor(code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "the operation is not permitted",
  EROFS: "the file system is read-only",
  ENOSPC: "no space is left on the disk",
  EDQUOT: "the disk quota is used up",
  EFBIG: "the file would be larger than the file system allows",
  ENOENT: "there is no such file or folder",
  ENOTDIR: "a part of the path is a file, not a folder",
  EISDIR: "it is a folder",
  ELOOP: "its symbolic links form a loop",
  ENAMETOOLONG: "the name is too long",
  EMFILE: "too many files are open",
  ENFILE: "too many files are open",
  ETXTBSY: "it is a program that is running",
  EBUSY: "it is in use",
  EIO: "the disk reported an error",
};

/** A system error as a `FileProblem`: "Cannot write a/b: permission denied (EACCES)." Other errors stay themselves. */
export function asFileProblem(error: unknown, action: string, path: string): Error {
  if (error instanceof FileProblem) return error;
  const code = codeOf(error);
  if (code === undefined) return error instanceof Error ? error : new Error(String(error));
  return new FileProblem(code, `Cannot ${action} ${path}: ${REASONS[code] ?? "the system refused"} (${code}).`, error);
}
