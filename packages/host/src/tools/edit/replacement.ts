import type { Place } from "./place.ts";

/** A piece of the old text and what takes its place; everything outside of all of them stays, byte by byte. */
export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export interface Replaced {
  readonly pieces: readonly Replacement[];
  readonly notes: readonly string[];
}

/** Past so many changed lines the kept ones are no longer looked for. */
const MAX_EDIT_LENGTH = 1000;

/**
 * What one edit puts in the place that was found. Newlines take the form of the region (R044, R046). Where the match
 * was folded, lines that old and new text have in common keep their bytes, so that an edit of one line does not
 * change spaces and quotes in the lines around it (R063).
 */
export async function replacementFor(text: string, place: Place): Promise<Replaced> {
  const trimmed = withoutDoubledEnd(text, place);
  const pieces = place.folded
    ? await changedLines(text, place, trimmed.newText)
    : [{ ...span(place), text: trimmed.newText }];
  const converted = pieces.map(({ start, end, text: piece }) => ({
    start,
    end,
    text: convertNewlines(
      piece,
      lineEndingAt(text, spanOfLines(text, { start, end }, place), place),
      text.slice(end, end + 2),
    ),
  }));
  return { pieces: converted, notes: trimmed.note === undefined ? [] : [trimmed.note] };
}

interface Span {
  readonly start: number;
  readonly end: number;
}

function span({ start, end }: Place): Span {
  return { start, end };
}

/** A piece that holds no line end takes the one of the whole place. */
function spanOfLines(text: string, piece: Span, place: Place): Span {
  return /[\r\n]/.test(text.slice(piece.start, piece.end)) ? piece : place;
}

type LineEnding = "\n" | "\r\n" | "\r";

/**
 * The newline in the span, else the next one, else the one before; `undefined` in a file of one line. A CR alone is one
 * where nothing else ends lines: in the span, when it was matched as a line end, or in the whole file.
 */
function lineEndingAt(text: string, { start, end }: Span, place: Place): LineEnding | undefined {
  const replaced = text.slice(start, end);
  if (place.folded && !replaced.includes("\n") && replaced.includes("\r")) return "\r";
  const inside = text.indexOf("\n", start);
  const at = inside >= 0 ? inside : text.lastIndexOf("\n", end);
  if (at >= 0) return text[at - 1] === "\r" ? "\r\n" : "\n";
  return text.includes("\r") ? "\r" : undefined;
}

function convertNewlines(piece: string, ending: LineEnding | undefined, following: string): string {
  if (!ending) return piece;
  const converted = piece.replace(/(?<!\r)\r*\n/g, ending);
  return /^\r?\n/.test(following) ? converted.replace(/(?<!\r)\r+$/, "") : converted;
}

/**
 * Models often end the new text, and not the old one, with a newline; where the old one ended at the end of a line that
 * would leave an empty line behind (R044). Adding nothing but newlines is taken as meant.
 */
function withoutDoubledEnd(text: string, place: Place): { newText: string; note?: string } {
  const { start, end, oldText, newText } = place;
  const startsLine = start === 0 || /[\r\n]/.test(text[start - 1] ?? "");
  const endsLine = /^[\r\n]/.test(text.slice(end, end + 1));
  const onlyNewlines = newText.replace(/(?<![\r\n])[\r\n]+$/, "") === oldText.replace(/(?<![\r\n])[\r\n]+$/, "");
  if (oldText.endsWith("\n") || !newText.endsWith("\n") || !startsLine || !endsLine || onlyNewlines) return { newText };
  return {
    newText: newText.replace(/(?<!\r)\r*\n$/, ""),
    note: "the newline at the end of newText was left out, since oldText ends before one that is kept.",
  };
}

async function changedLines(text: string, place: Place, newText: string): Promise<Replacement[]> {
  const { folded, start, end, oldText } = place;
  // Where the region has lines that a CR alone ends, one in the new text is a line end too.
  const newline = /\r(?!\n)/.test(text.slice(start, end)) ? /\r\n?/g : /\r\n/g;
  const folding = newText.replace(newline, "\n");
  const whole = [{ start, end, text: folding }];
  const oldLines = linesOf(oldText.replace(/\r\n?/g, "\n"));
  const newLines = linesOf(folding);
  const foldedLines = linesOf(folded?.text ?? "");
  // A last line of spaces alone may have been folded away.
  if (foldedLines.length !== oldLines.length) return whole;
  const { diffArrays } = await import("diff");
  const changes = diffArrays(oldLines, newLines, { maxEditLength: MAX_EDIT_LENGTH });
  const starts = startsOf(place, foldedLines);
  return changes && starts ? piecesOf(changes, newLines, starts) : whole;
}

/** With their newlines. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+/g) ?? [];
}

/** Where the old lines begin in the original, and, as the last one, where they end. */
function startsOf({ folded, start, end }: Place, oldLines: readonly string[]): number[] | undefined {
  const starts = [start];
  let at = folded?.at ?? 0;
  for (const line of oldLines.slice(0, -1)) {
    at += line.length;
    const original = folded?.view.toOriginal(at, "before");
    if (original === undefined) return undefined;
    starts.push(original);
  }
  return [...starts, end];
}

interface Change {
  readonly value: readonly string[];
  readonly added: boolean;
  readonly removed: boolean;
}

function piecesOf(changes: readonly Change[], newLines: readonly string[], starts: readonly number[]): Replacement[] {
  const pieces: Replacement[] = [];
  let oldLine = 0;
  let newLine = 0;
  let open: { start: number; text: string } | undefined;
  const close = () => {
    if (open) pieces.push({ ...open, end: starts[oldLine] ?? open.start });
    open = undefined;
  };
  for (const { value, added, removed } of changes) {
    if (!added && !removed) {
      close();
      newLine += value.length;
      oldLine += value.length;
      continue;
    }
    open ??= { start: starts[oldLine] ?? 0, text: "" };
    if (removed) oldLine += value.length;
    if (!added) continue;
    open.text += newLines.slice(newLine, newLine + value.length).join("");
    newLine += value.length;
  }
  close();
  return pieces;
}
