import type { AgentToolResult } from "@tau/agent";
import { type ToolEnvironment, textResult } from "../definition.ts";
import { counted, listed, MAX_BESIDE_OTHERS } from "../search/ignored.ts";
import { type SearchRoot, shownPath } from "../search/search-root.ts";

/** Longest text of a result. */
const MAX_BYTES = 50 * 1024;

export interface FindDetails {
  /** Paths in the text. */
  shown: number;
  /** Paths that were found, where all were listed. */
  total?: number;
  /** Paths that ignore rules hide and that fit, as far as they were looked at. */
  ignored?: number;
}

/** What a listing found: absolute paths, folders with a `/` at the end. */
export interface Listing {
  paths: readonly string[];
  /** False when it was stopped, by time or by number. */
  whole: boolean;
}

export interface FindFindings {
  environment: ToolEnvironment;
  pattern: string;
  root: SearchRoot;
  limit: number;
  main: Listing;
  /** What only ignore rules hide; absent when it was not looked at. */
  ignored?: Listing;
}

/** One path a line, sorted, and notes on what is not shown. */
export function findResult({
  environment,
  pattern,
  root,
  limit,
  main,
  ignored,
}: FindFindings): AgentToolResult<FindDetails> {
  const paths = shownSorted(main.paths, environment);
  const hidden = shownSorted(ignored?.paths ?? [], environment);
  const most = paths.length === 0 ? limit : Math.min(MAX_BESIDE_OTHERS, limit);
  const besides = root.named ? fitting(hidden, most, MAX_BYTES) : [];
  const lines = fitting(paths, limit, MAX_BYTES - byteLength(besides));
  const notes: string[] = [];
  if (lines.length < paths.length || !main.whole) {
    const total = main.whole ? `${paths.length}` : `more than ${paths.length}`;
    notes.push(`[${lines.length} of ${total} paths. Narrow the pattern, or give a limit]`);
  }
  if (hidden.length > besides.length) notes.push(hiddenNote(hidden.slice(besides.length), { root, ignored }));
  if (paths.length === 0 && hidden.length === 0 && ignored?.whole === false)
    notes.push("[not all ignored files were looked at]");
  const details: FindDetails = {
    shown: lines.length + besides.length,
    ...(main.whole && { total: paths.length }),
    ...(ignored && { ignored: hidden.length }),
  };
  const none = `No files match ${pattern} in ${root.shown === "." ? "the working directory" : root.shown}.`;
  const ignoredLines = besides.length > 0 ? ["Skipped by ignore rules:", ...besides] : [];
  const body = details.shown === 0 ? [none] : [...lines, ...ignoredLines];
  return textResult([...body, ...notes].join("\n"), details);
}

function hiddenNote(
  names: readonly string[],
  { root, ignored }: { root: SearchRoot; ignored: Listing | undefined },
): string {
  const atLeast = ignored?.whole ? "" : "at least ";
  if (root.named) return `[ignore rules skip ${atLeast}${names.length} more]`;
  const count = counted(names.length, "path");
  return `[ignore rules skip ${atLeast}${count} that would match: ${listed(names)}. Name the folder to list them]`;
}

function shownSorted(paths: readonly string[], environment: ToolEnvironment): string[] {
  const shown = (path: string) => {
    const text = shownPath(path, environment.cwd);
    return path.endsWith("/") && !text.endsWith("/") ? `${text}/` : text;
  };
  return paths.map(shown).sort();
}

function byteLength(lines: readonly string[]): number {
  return Buffer.byteLength(lines.join("\n"));
}

function fitting(lines: readonly string[], limit: number, maxBytes: number): string[] {
  const out: string[] = [];
  let room = maxBytes;
  for (const line of lines.slice(0, limit)) {
    room -= Buffer.byteLength(line) + 1;
    if (room < 0) break;
    out.push(line);
  }
  return out;
}
