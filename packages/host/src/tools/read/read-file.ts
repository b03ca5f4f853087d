import type { FileHandle } from "node:fs/promises";
import type { AgentToolResult } from "@tau/agent";
import { type ExistingPath, findExisting, spellOut } from "../../platform/existing-path.ts";
import { fileKind, isBinary } from "../../platform/file-kind.ts";
import { asFileProblem, FileProblem } from "../../platform/file-problem.ts";
import { openRegularFile } from "../../platform/open-file.ts";
import { realTarget } from "../../platform/real-path.ts";
import { decodeForReading } from "../../platform/text-codec.ts";
import { detectNarrow, encodingOfMark, type TextEncoding, wideEncoding } from "../../platform/text-encoding.ts";
import { errorResult, type ToolEnvironment, textResult } from "../definition.ts";
import { byteCount } from "../files/byte-count.ts";
import type { FileStamp } from "../files/file-reads.ts";
import { seenRange } from "../files/seen-content.ts";
import { type LineSlice, type LineUnit, readAt, readLines } from "./lines.ts";
import type { ReadArgs } from "./parameters.ts";
import { type ReadNotes, showSlice } from "./show-slice.ts";

const MAX_LINES = 2000;
const MAX_BYTES = 50 * 1024;

/** How far a text is read on only to tell how many lines it has; more would make reading the head of a log slow. */
const COUNT_BUDGET = 16 * 1024 * 1024;

const HEAD_BYTES = 64 * 1024;

/** One call of `read`. Problems with the file are error results that say what to do; other errors throw. */
export async function readFile(
  args: ReadArgs,
  environment: ToolEnvironment,
  signal: AbortSignal,
): Promise<AgentToolResult> {
  try {
    const range = rangeOf(args);
    const found = await findExisting(args.path, environment);
    const { file, stats } = await openRegularFile(found.path, args.path);
    try {
      return await readOpened({ args, range, found, file, stamp: stats, environment, signal });
    } catch (error) {
      throw signal.aborted ? error : asFileProblem(error, "read", args.path);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof FileProblem) return errorResult(error.message);
    throw error;
  }
}

interface Range {
  readonly firstLine: number;
  readonly maxLines: number;
}

function rangeOf({ offset, limit }: ReadArgs): Range {
  if (offset !== undefined && offset < 0) {
    throw new FileProblem("BAD_RANGE", `offset is a line number, from 1; ${offset} is none.`);
  }
  if (limit !== undefined && limit < 1) throw new FileProblem("BAD_RANGE", `limit must be 1 or more, not ${limit}.`);
  return {
    firstLine: Math.max(1, Math.floor(offset ?? 1)),
    maxLines: Math.min(MAX_LINES, Math.floor(limit ?? MAX_LINES)),
  };
}

interface OpenedRead {
  readonly args: ReadArgs;
  readonly range: Range;
  readonly found: ExistingPath;
  readonly file: FileHandle;
  readonly stamp: FileStamp;
  readonly environment: ToolEnvironment;
  readonly signal: AbortSignal;
}

async function readOpened(read: OpenedRead): Promise<AgentToolResult> {
  const { args, file, stamp } = read;
  const head = await readAt(file, 0, HEAD_BYTES);
  const kind = fileKind(head);
  if (kind.kind === "image") {
    const { showImage } = await import("./show-image.ts");
    return showImage({ ...read, mimeType: kind.mimeType });
  }
  if (kind.kind === "binary") {
    const size = byteCount(Math.max(stamp.size, head.length));
    return errorResult(`${args.path} is not text: ${kind.type}, ${size}. Look at it with a program for that kind.`);
  }
  return readText(read, head);
}

async function readText(read: OpenedRead, head: Buffer): Promise<AgentToolResult> {
  const { args, file, stamp, range, found, environment, signal } = read;
  const known = encodingOfMark(head) ?? wideEncoding(head);
  const slice = await readLines(file, {
    ...range,
    unit: unitOf(known),
    start: known?.bomLength ?? 0,
    maxBytes: MAX_BYTES,
    countBudget: COUNT_BUDGET,
    signal,
  });
  if (!slice.found) return beyondEnd(args.path, range.firstLine, slice.total);
  const { bytes, start } = slice;
  const real = realTarget(found.path);
  environment.fileReads?.add(real, stamp, seenRange(bytes, start));
  if (!known && isBinary(bytes)) return binaryLines(args.path, range.firstLine, slice);
  const encoding = known ?? (await detectNarrow(bytes));
  const text = await decodeForReading(encoding, bytes);
  const notes: ReadNotes = {
    ...(found.renamed && { renamedTo: spellOut(found.path) }),
    ...(encoding.name !== "utf-8" && { encoding: encoding.name }),
  };
  return showSlice({ path: args.path, firstLine: range.firstLine, size: stamp.size, slice, text, notes });
}

function unitOf(encoding: TextEncoding | undefined): LineUnit {
  const name = encoding?.name ?? "";
  const width = name.startsWith("utf-16") ? 2 : name.startsWith("utf-32") ? 4 : 1;
  return { width, bigEndian: name.endsWith("be") };
}

function beyondEnd(path: string, firstLine: number, total: number): AgentToolResult {
  if (total === 0 && firstLine === 1) return textResult("[The file is empty.]", { totalLines: 0 });
  const lines = total === 1 ? "1 line" : `${total} lines`;
  return errorResult(`offset ${firstLine} is beyond the end: ${path} has ${lines}.`, { totalLines: total });
}

function binaryLines(path: string, firstLine: number, { lines }: LineSlice & { found: true }): AgentToolResult {
  const where = lines === 1 ? `Line ${firstLine}` : `Lines ${firstLine}-${firstLine + lines - 1}`;
  return errorResult(`${where} of ${path} hold binary data, not text. Read fewer lines, or other ones.`);
}
