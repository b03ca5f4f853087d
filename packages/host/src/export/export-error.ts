/**
 * Why an export was not written. `exists`: something else is in its place; `bad_target`: the place cannot hold a file;
 * `unwritable`: the disk refused.
 */
export type ExportErrorCode = "exists" | "bad_target" | "unwritable";

/** An export that could not be written; the message says what to do about it. Nothing is left behind. */
export class ExportError extends Error {
  readonly code: ExportErrorCode;
  readonly path: string;

  constructor({ code, path, message }: { code: ExportErrorCode; path: string; message: string }) {
    super(message);
    this.name = "ExportError";
    this.code = code;
    this.path = path;
  }
}
