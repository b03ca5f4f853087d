import type { TextLines } from "./text-lines.ts";

export interface Region {
  readonly firstLine: number;
  readonly lastLine: number;
}

/** Bounds of the search: a hint must never cost more than a moment, however large the file. */
const MAX_ANCHORS = 20;
const MAX_HITS = 200;
const MAX_COMPARED_LINES = 50_000;
const MAX_CANDIDATES = 3;

/** A line alike in fewer of its words is not a hint. */
const MIN_LIKENESS = 0.4;

/** A file of so few lines is shown whole when no region of it is near. */
const SMALL_FILE = 30;

/**
 * Where the text that was not found most likely is, for showing the model what the file holds now (R052, R068). Lines
 * of the old text that are in the file vote for a place; without any, the line most like the longest one counts.
 */
export function nearestRegion(lines: TextLines, oldText: string): Region | undefined {
  const wanted = oldText.split("\n").map((line) => line.trim());
  if (wanted.length > 1 && wanted.at(-1) === "") wanted.pop();
  const firstLine = votedPlace(lines, wanted) ?? likeliestPlace(lines, wanted);
  if (firstLine === undefined) {
    return lines.count > 0 && lines.count <= SMALL_FILE ? { firstLine: 1, lastLine: lines.count } : undefined;
  }
  const from = Math.max(1, firstLine - 1);
  return { firstLine: from, lastLine: Math.min(lines.count, Math.max(from, firstLine) + wanted.length) };
}

function votedPlace(lines: TextLines, wanted: readonly string[]): number | undefined {
  const anchors = wanted
    .map((line, index) => ({ line, index }))
    .filter(({ line }) => line.length > 2)
    .sort((a, b) => b.line.length - a.line.length)
    .slice(0, MAX_ANCHORS);
  const votes = new Map<number, number>();
  for (const { line, index } of anchors) {
    for (const number of linesEqual(lines, line)) {
      // A rare line says more than one that is everywhere; neighbours count too, since lines may have been added.
      const place = number - index;
      votes.set(place, (votes.get(place) ?? 0) + line.length);
    }
  }
  let best: number | undefined;
  for (const [place, weight] of votes) {
    if (best === undefined || weight > (votes.get(best) ?? 0)) best = place;
  }
  return best;
}

/** Numbers of the lines that are `wanted` but for the spaces around it. */
function linesEqual(lines: TextLines, wanted: string): number[] {
  const numbers: number[] = [];
  const { text } = lines;
  for (let at = text.indexOf(wanted), hits = 0; at >= 0 && hits < MAX_HITS; hits++) {
    const number = lines.numberAt(at);
    if (lines.line(number).trim() === wanted) numbers.push(number);
    at = text.indexOf(wanted, at + wanted.length);
  }
  return numbers;
}

function likeliestPlace(lines: TextLines, wanted: readonly string[]): number | undefined {
  const candidates = wanted
    .map((line, index) => ({ index, words: wordsOf(line) }))
    .filter(({ words }) => words.size > 0)
    .sort((a, b) => b.words.size - a.words.size)
    .slice(0, MAX_CANDIDATES);
  let best: { place?: number; likeness: number } = { likeness: MIN_LIKENESS };
  for (let number = 1; number <= Math.min(lines.count, MAX_COMPARED_LINES); number++) {
    const there = wordsOf(lines.line(number));
    for (const { index, words } of candidates) {
      const likeness = likenessOf(words, there);
      if (likeness > best.likeness) best = { place: number - index, likeness };
    }
  }
  return best.place;
}

function wordsOf(line: string): Set<string> {
  return new Set(
    line
      .slice(0, 500)
      .toLowerCase()
      .match(/[\p{L}\p{N}_]+/gu),
  );
}

/** The cosine of the two sets of words: 1 for the same set, 0 for none in common. */
function likenessOf(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  if (right.size === 0) return 0;
  let shared = 0;
  for (const word of left) if (right.has(word)) shared++;
  return shared / Math.sqrt(left.size * right.size);
}
