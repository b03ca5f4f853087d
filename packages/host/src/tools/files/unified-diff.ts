import type { StructuredPatchHunk } from "diff";

/** Some whole lines before and after a change. */
export interface LineChange {
  /** Number of the first line of `oldText` in the old file, from 1. */
  readonly oldStart: number;
  /** Number of the first line of `newText` in the new file, from 1. */
  readonly newStart: number;
  readonly oldText: string;
  readonly newText: string;
}

export const CONTEXT_LINES = 3;

/** Past so many differing lines a minimal diff costs seconds; then the region is shown as replaced. */
const MAX_EDIT_LENGTH = 500;

/** Diffs go into the session file with every result. */
const MAX_DIFF_LENGTH = 64 * 1024;

/**
 * A unified diff of some regions of one file, in order. Carriage returns and spaces are those of the files (R063):
 * nothing is normalised. Cut at 64 K characters, with a last line that says so.
 */
export async function unifiedDiff(path: string, changes: readonly LineChange[]): Promise<string> {
  return asUnified(path, await hunksOf(path, changes));
}

/**
 * The same changes twice: as a unified diff for programs, and as pi shows them to people, with the number of each line.
 *
 * @param lineCount lines of the old file
 */
export async function bothDiffs(
  path: string,
  { changes, lineCount }: { changes: readonly LineChange[]; lineCount: number },
): Promise<{ patch: string; diff: string }> {
  const hunks = await hunksOf(path, changes);
  return { patch: await asUnified(path, hunks), diff: capped(numbered(hunks, lineCount)) };
}

async function hunksOf(path: string, changes: readonly LineChange[]): Promise<StructuredPatchHunk[]> {
  const { structuredPatch } = await import("diff");
  return changes.flatMap((change) => {
    const options = { context: CONTEXT_LINES, maxEditLength: MAX_EDIT_LENGTH };
    const patch = structuredPatch(path, path, change.oldText, change.newText, "", "", options);
    const found = patch?.hunks ?? [replacedWhole(change)];
    return found.map((hunk) => ({
      ...hunk,
      oldStart: hunk.oldStart + change.oldStart - 1,
      newStart: hunk.newStart + change.newStart - 1,
    }));
  });
}

async function asUnified(path: string, hunks: StructuredPatchHunk[]): Promise<string> {
  const { FILE_HEADERS_ONLY, formatPatch } = await import("diff");
  const names = { oldFileName: path, newFileName: path, oldHeader: undefined, newHeader: undefined };
  return capped(formatPatch({ ...names, hunks }, FILE_HEADERS_ONLY));
}

/** Lines of the old file with their old number, added ones with their new one; dots where lines are left out. */
function numbered(hunks: readonly StructuredPatchHunk[], lineCount: number): string {
  const last = hunks.at(-1);
  const width = String(Math.max(lineCount, last ? last.newStart + last.newLines : 0)).length;
  const gap = `${" ".repeat(width + 2)}...`;
  const lines: string[] = [];
  let next = 1;
  for (const hunk of hunks) {
    if (hunk.oldStart > next) lines.push(gap);
    lines.push(...numberedLines(hunk, width));
    next = hunk.oldStart + hunk.oldLines;
  }
  if (next <= lineCount) lines.push(gap);
  return lines.join("\n");
}

function numberedLines({ oldStart, newStart, lines }: StructuredPatchHunk, width: number): string[] {
  let oldLine = oldStart;
  let newLine = newStart;
  return lines.flatMap((line) => {
    const sign = line[0] ?? "";
    // A note about a missing line end is not a line of the file.
    if (sign === "\\") return [];
    const number = sign === "+" ? newLine : oldLine;
    if (sign !== "+") oldLine++;
    if (sign !== "-") newLine++;
    return [`${sign}${String(number).padStart(width)} ${line.slice(1)}`];
  });
}

function replacedWhole({ oldText, newText }: LineChange): StructuredPatchHunk {
  const removed = hunkLines(oldText, "-");
  const added = hunkLines(newText, "+");
  const count = (lines: readonly string[]) => lines.filter((line) => !line.startsWith("\\")).length;
  return {
    oldStart: 1,
    oldLines: count(removed),
    newStart: 1,
    newLines: count(added),
    lines: [...removed, ...added],
  };
}

function hunkLines(text: string, sign: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  const ended = lines.at(-1) === "";
  if (ended) lines.pop();
  const signed = lines.map((line) => sign + line);
  return ended ? signed : [...signed, "\\ No newline at end of file"];
}

function capped(diff: string): string {
  if (diff.length <= MAX_DIFF_LENGTH) return diff;
  return `${diff.slice(0, diff.lastIndexOf("\n", MAX_DIFF_LENGTH) + 1)}\\ The diff is longer and was cut here.\n`;
}
