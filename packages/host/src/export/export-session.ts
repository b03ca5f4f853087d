import { basename, extname, join, resolve } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { kindOf } from "../platform/home.ts";
import { openSessionStore } from "../store/open-session.ts";
import { sessionFileName } from "../store/paths.ts";
import type { SessionStore } from "../store/session-store.ts";
import { ExportError } from "./export-error.ts";
import { exportHtml } from "./html/page.ts";
import { exportMarkdown } from "./markdown/document.ts";
import { chunksOf } from "./pieces.ts";
import type { ExportOptions } from "./source.ts";
import { writeExport } from "./write-export.ts";

export type ExportFormat = "html" | "markdown";

/** Takes a piece of an export; what it gives is waited for. */
export type ExportSink = (text: string) => void | Promise<void>;

/** Which session to write, as what, and where to. */
export interface ExportRequest extends ExportOptions {
  /** Path of a session file, or an open session. */
  from: string | SessionStore;
  /** A file, a folder for a file of the default name, or a sink. Default: the session file's name, in `cwd`. */
  to?: string | ExportSink;
  /** Absolute path that relative ones start from. */
  cwd: string;
  /** Default: HTML for a file that ends in .html, .htm or nothing, Markdown for .md and .markdown. */
  format?: ExportFormat;
  /** Replace whatever file is there; default: only an earlier export of the same session. */
  overwrite?: boolean;
  signal?: AbortSignal;
}

/** What was written. */
export interface ExportResult {
  /** The file; undefined when a sink took it. */
  path: string | undefined;
  format: ExportFormat;
  bytes: number;
  /** What was damaged in the session file, one line each; the export says it too. */
  warnings: readonly string[];
}

const WRITERS: Readonly<Record<ExportFormat, (store: SessionStore, options: ExportOptions) => Iterable<string>>> = {
  html: exportHtml,
  markdown: exportMarkdown,
};

const FORMAT_OF: Readonly<Record<string, ExportFormat>> = {
  "": "html",
  ".html": "html",
  ".htm": "html",
  ".md": "markdown",
  ".markdown": "markdown",
};
const EXTENSION: Readonly<Record<ExportFormat, string>> = { html: ".html", markdown: ".md" };

/**
 * Writes a session as one HTML page or as Markdown. A path is opened to look at only: a session that another process
 * writes to can be exported.
 *
 * @throws SessionFileError when there is no such session
 * @throws ExportError when the export cannot be written
 */
export async function exportSession(request: ExportRequest): Promise<ExportResult> {
  const { from, to } = request;
  const format = request.format ?? formatOf(request);
  const store = typeof from === "string" ? openSessionStore(resolve(request.cwd, from), { readOnly: true }) : from;
  try {
    const pieces = WRITERS[format](store, request);
    const { warnings } = store;
    if (typeof to === "function") return { path: undefined, format, bytes: await pour(pieces, to, request), warnings };
    const path = targetOf(store, request, format);
    const { overwrite = false, signal } = request;
    const bytes = await writeExport({ path, sessionId: store.header.id, overwrite, pieces, signal });
    return { path, format, bytes, warnings };
  } finally {
    if (store !== from) store.close();
  }
}

function formatOf({ to, cwd }: ExportRequest): ExportFormat {
  if (typeof to !== "string") return "html";
  const path = resolve(cwd, to);
  const format = FORMAT_OF[extname(path).toLowerCase()];
  // The name of a folder or a device says nothing about what goes into it.
  const kind = format === undefined ? kindOf(path) : undefined;
  if (format !== undefined || kind === "folder" || kind === "other") return format ?? "html";
  const what = path.endsWith(".jsonl") ? "the name of a session, not of an export" : "not a kind of export";
  const message = `${path} is ${what}; end the name in .html for a page or in .md for Markdown`;
  throw new ExportError({ code: "bad_target", path, message });
}

async function pour(pieces: Iterable<string>, sink: ExportSink, { signal }: ExportRequest): Promise<number> {
  let bytes = 0;
  for (const chunk of chunksOf(pieces)) {
    signal?.throwIfAborted();
    await sink(chunk);
    // A sink that takes everything at once must not hold up timers and signals.
    await nextTurn();
    bytes += Buffer.byteLength(chunk);
  }
  return bytes;
}

function targetOf(store: SessionStore, { to, cwd }: ExportRequest, format: ExportFormat): string {
  const { timestamp, id } = store.header;
  const session = basename(store.path ?? sessionFileName(timestamp, id)).replace(/\.jsonl$/, "");
  const name = session + EXTENSION[format];
  if (typeof to !== "string") return join(cwd, name);
  const path = resolve(cwd, to);
  // Only a session ends in this, and the next command that looks for one would meet a page.
  if (path.endsWith(".jsonl")) {
    const message = `${path} is the name of a session, not of an export; end it in .html or .md`;
    throw new ExportError({ code: "bad_target", path, message });
  }
  return kindOf(path) === "folder" ? join(path, name) : path;
}
