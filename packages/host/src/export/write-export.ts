import { randomBytes } from "node:crypto";
import type { Stats } from "node:fs";
import { type FileHandle, open, realpath, rename, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { statOrMissing } from "../platform/files.ts";
import { codeOf, reasonOf } from "../platform/thrown.ts";
import { ExportError } from "./export-error.ts";
import { exportMark, MARK_BYTES } from "./export-mark.ts";
import { chunksOf } from "./pieces.ts";

export interface WriteRequest {
  path: string;
  /** Whose export it is: an earlier export of the same session is replaced, anything else is left alone. */
  sessionId: string;
  overwrite: boolean;
  pieces: Iterable<string>;
  signal: AbortSignal | undefined;
}

/**
 * Writes an export so that no reader sees half of it: a temporary file beside it, then a rename. Readable by its owner
 * only, since it holds what the session holds. A device or a pipe is written to as it is.
 *
 * @returns bytes written
 * @throws ExportError; nothing is left behind
 */
export async function writeExport(request: WriteRequest): Promise<number> {
  const { path } = request;
  try {
    const existing = await statOrMissing(path);
    if (existing?.isFile()) await checkReplaceable(request);
    return existing && !existing.isFile() ? await writeInto(request, existing) : await writeBeside(request, existing);
  } catch (error) {
    throw isBorderError(error) ? toExportError(path, error) : error;
  }
}

async function checkReplaceable({ path, sessionId, overwrite }: WriteRequest): Promise<void> {
  if (overwrite || (await headOf(path)).includes(exportMark(sessionId))) return;
  const message = `${path} exists and is not an export of this session; choose another name, or remove it first`;
  throw new ExportError({ code: "exists", path, message });
}

async function headOf(path: string): Promise<string> {
  const handle = await open(path, "r");
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MARK_BYTES), 0, MARK_BYTES, 0);
    return buffer.toString("latin1", 0, bytesRead);
  } finally {
    await handle.close();
  }
}

async function writeInto(request: WriteRequest, existing: Stats): Promise<number> {
  const { path } = request;
  if (existing.isDirectory()) {
    throw new ExportError({ code: "bad_target", path, message: `${path} is a folder; give the name of a file` });
  }
  const handle = await open(path, "w");
  try {
    return await writePieces(handle, request);
  } finally {
    await handle.close();
  }
}

async function writeBeside(request: WriteRequest, existing: Stats | undefined): Promise<number> {
  // A link stays a link: what it names is replaced.
  const target = existing ? await realpath(request.path) : request.path;
  const temporary = join(dirname(target), `.tau-export-${randomBytes(6).toString("hex")}.tmp`);
  try {
    const bytes = await writeTemporary(temporary, request);
    await rename(temporary, target);
    return bytes;
  } catch (error) {
    await unlink(temporary).catch((left: unknown) => {
      if (codeOf(left) !== "ENOENT") throw left;
    });
    throw error;
  }
}

async function writeTemporary(path: string, request: WriteRequest): Promise<number> {
  const handle = await open(path, "wx", 0o600);
  try {
    const bytes = await writePieces(handle, request);
    await handle.datasync();
    return bytes;
  } finally {
    await handle.close();
  }
}

async function writePieces(handle: FileHandle, { pieces, signal }: WriteRequest): Promise<number> {
  let bytes = 0;
  for (const chunk of chunksOf(pieces)) {
    signal?.throwIfAborted();
    const data = Buffer.from(chunk);
    await handle.writeFile(data);
    bytes += data.length;
  }
  return bytes;
}

const BAD_TARGETS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such folder",
  ENOTDIR: "a part of it is not a folder",
  EISDIR: "it is a folder",
  ENAMETOOLONG: "its name is too long",
};

function isBorderError(error: unknown): boolean {
  return !(error instanceof ExportError) && codeOf(error) !== undefined;
}

function toExportError(path: string, error: unknown): ExportError {
  const bad = BAD_TARGETS[codeOf(error) ?? ""];
  const message = `cannot write ${path}: ${bad ?? reasonOf(error)}`;
  return new ExportError({ code: bad === undefined ? "unwritable" : "bad_target", path, message });
}
