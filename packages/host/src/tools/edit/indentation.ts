import { type FoldedText, foldText } from "./folded-text.ts";
import type { Search } from "./place.ts";
import type { TextLines } from "./text-lines.ts";

/** Work on texts of many equal lines is bounded: so many line comparisons, then the search gives up. */
const MAX_COMPARISONS = 5_000_000;

const MAX_BLOCKS = 3;

/**
 * Finds whole lines that equal those of `oldText` but for their indentation (R065). A unique block whose lines are all
 * shifted by the same indentation is taken, and `newText` is shifted likewise; an uneven one is shown, several are
 * ambiguous.
 */
export function findShifted(
  lines: TextLines,
  view: FoldedText,
  { oldText, newText }: { oldText: string; newText: string },
): Search {
  const ended = /\n$/.test(oldText);
  const wanted = splitLines(oldText);
  const blocks = findBlocks(
    view.text.split("\n").map((line) => line.trimStart()),
    foldText(wanted.join("\n"), "trailingSpaces")
      .text.split("\n")
      .map((line) => line.trimStart()),
  );
  const [first] = blocks;
  if (first === undefined) return { found: "none" };
  if (blocks.length > 1) {
    return { found: "many", starts: blocks.map((line) => lines.startOf(line)), how: "indentation" };
  }
  const last = first + wanted.length - 1;
  const actual = wanted.map((_, index) => lines.line(first + index));
  // With the same indentation it is something else that differs.
  if (wanted.every((line, index) => indentOf(line) === indentOf(actual[index] ?? ""))) return { found: "none" };
  const shift = evenShift(wanted, actual);
  const shifted = shift && applyShift(newText, shift);
  if (!shift || shifted === undefined) return { found: "uneven", firstLine: first, lastLine: last };
  const start = lines.startOf(first);
  const lastStart = lines.startOf(last);
  const end = ended ? lines.startOf(last + 1) : lastStart + lines.line(last).length;
  const place = { start, end, how: "indentation" as const, oldText, newText: shifted, shift: describeShift(shift) };
  return { found: "one", place };
}

/** Lines without line ends; a final newline begins none. */
function splitLines(text: string): string[] {
  const lines = text.split(/\r?\n/);
  if (lines.length > 1 && lines.at(-1) === "") lines.pop();
  return lines;
}

/** Numbers, from 1, of the first lines of all blocks that equal `wanted`. */
function findBlocks(all: readonly string[], wanted: readonly string[]): number[] {
  const anchor = wanted.findIndex((line) => line !== "");
  if (anchor < 0) return [];
  const blocks: number[] = [];
  let comparisons = 0;
  for (let at = anchor; at + wanted.length - anchor <= all.length; at++) {
    if (all[at] !== wanted[anchor]) continue;
    const start = at - anchor;
    const differs = wanted.findIndex((line, index) => all[start + index] !== line);
    comparisons += differs < 0 ? wanted.length : differs;
    if (comparisons > MAX_COMPARISONS) return [];
    if (differs < 0) blocks.push(start + 1);
    if (blocks.length === MAX_BLOCKS) return blocks;
  }
  return blocks;
}

interface Shift {
  readonly kind: "add" | "remove";
  readonly indent: string;
}

function indentOf(line: string): string {
  return /^[^\S\r\n]*/.exec(line)?.[0] ?? "";
}

/** The one indentation that leads from every wanted line to the actual one. */
function evenShift(wanted: readonly string[], actual: readonly string[]): Shift | undefined {
  const filled = wanted.flatMap((line, index) =>
    line.trim() === "" ? [] : [{ old: indentOf(line), now: indentOf(actual[index] ?? "") }],
  );
  const [first] = filled;
  if (!first) return undefined;
  const kind = first.now.length > first.old.length ? "add" : "remove";
  const indent =
    kind === "add"
      ? first.now.slice(0, first.now.length - first.old.length)
      : first.old.slice(0, first.old.length - first.now.length);
  const fits = filled.every(({ old, now }) => (kind === "add" ? now === indent + old : old === indent + now));
  return fits && indent !== "" ? { kind, indent } : undefined;
}

/** `undefined` when a line has not the indentation that must go. */
function applyShift(text: string, { kind, indent }: Shift): string | undefined {
  const lines = text.split("\n");
  const isFilled = (line: string) => line.trim() !== "";
  if (kind === "add") return lines.map((line) => (isFilled(line) ? indent + line : line)).join("\n");
  if (lines.some((line) => isFilled(line) && !line.startsWith(indent))) return undefined;
  return lines.map((line) => (isFilled(line) ? line.slice(indent.length) : line)).join("\n");
}

function describeShift({ kind, indent }: Shift): string {
  const tabs = /^\t+$/.test(indent);
  const unit = tabs ? "tab" : "space";
  return `${indent.length} ${unit}${indent.length === 1 ? "" : "s"} ${kind === "add" ? "more" : "less"}`;
}
