import { bothDiffs, CONTEXT_LINES, type LineChange } from "../files/unified-diff.ts";
import type { Replacement } from "./replacement.ts";
import type { TextLines } from "./text-lines.ts";

/** For programs and screens; never sent to the model. */
export interface EditDetails {
  /** The changes for people, as pi shows them: a sign, the number and the text of each line. */
  readonly diff: string;
  /** Unified diff of the real content: no line end, space or quote is normalised. */
  readonly patch: string;
  /** In the new file, from 1. */
  readonly firstChangedLine: number;
  readonly replacements: number;
}

export interface EditReport {
  readonly path: string;
  /** Of the old text. */
  readonly lines: TextLines;
  /** In order. */
  readonly replacements: readonly Replacement[];
  /** Edits in the call. */
  readonly count: number;
  readonly notes: readonly string[];
}

/** What the model reads about a call that worked, and the diff. Only lines near a change are looked at. */
export async function reportEdits(report: EditReport): Promise<{ text: string; details: EditDetails }> {
  const { path, lines, replacements, count, notes } = report;
  const ranges = newRanges(lines, replacements);
  const shown = ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(", ");
  const what = count === 1 ? "1 replacement" : `${count} replacements`;
  const where = ranges.length === 1 && ranges[0]?.[0] === ranges[0]?.[1] ? "line" : "lines";
  const text = [`Edited ${path}: ${what}, now at ${where} ${shown}.`, ...notes.map((note) => `Note: ${note}`)].join(
    "\n",
  );
  const { diff, patch } = await bothDiffs(path, { changes: regionsOf(lines, replacements), lineCount: lines.count });
  return { text, details: { diff, patch, firstChangedLine: ranges[0]?.[0] ?? 1, replacements: count } };
}

function newlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

/** First and last line of each replacement in the new file. */
function newRanges(lines: TextLines, replacements: readonly Replacement[]): [number, number][] {
  let added = 0;
  return replacements.map(({ start, end, text }) => {
    const first = lines.numberAt(start) + added;
    const grown = newlines(text);
    added += grown - (lines.numberAt(end) - lines.numberAt(start));
    return [first, Math.max(first, first + grown - (text.endsWith("\n") ? 1 : 0))];
  });
}

interface Region {
  firstLine: number;
  lastLine: number;
  readonly replacements: Replacement[];
}

/** Whole lines around the changes; near ones are joined, as a diff does. */
function regionsOf(lines: TextLines, replacements: readonly Replacement[]): LineChange[] {
  const regions: Region[] = [];
  for (const replacement of replacements) {
    const firstLine = Math.max(1, lines.numberAt(replacement.start) - CONTEXT_LINES);
    const lastLine = Math.min(lines.count, lines.numberAt(replacement.end) + CONTEXT_LINES);
    const open = regions.at(-1);
    if (open && firstLine <= open.lastLine + 1) {
      open.lastLine = Math.max(open.lastLine, lastLine);
      open.replacements.push(replacement);
    } else regions.push({ firstLine, lastLine, replacements: [replacement] });
  }
  let added = 0;
  return regions.map((region) => {
    const change = changeOf(lines, region, added);
    added += newlines(change.newText) - newlines(change.oldText);
    return change;
  });
}

function changeOf(lines: TextLines, { firstLine, lastLine, replacements }: Region, added: number): LineChange {
  const from = lines.startOf(firstLine);
  const to = lines.startOf(lastLine + 1);
  const parts: string[] = [];
  let at = from;
  for (const { start, end, text } of replacements) {
    parts.push(lines.text.slice(at, start), text);
    at = end;
  }
  parts.push(lines.text.slice(at, to));
  return {
    oldStart: firstLine,
    newStart: firstLine + added,
    oldText: lines.text.slice(from, to),
    newText: parts.join(""),
  };
}
