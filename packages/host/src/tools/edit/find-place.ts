import { type FoldedText, type FoldLevel, foldMore, foldText } from "./folded-text.ts";
import { findShifted } from "./indentation.ts";
import type { Search } from "./place.ts";
import type { TextLines } from "./text-lines.ts";

/** So many places are listed when there are several. */
const MAX_PLACES = 10;

const LEVELS: readonly FoldLevel[] = ["lineEnds", "characters", "trailingSpaces"];

/** Folds a file once for each level, and only for the levels that are reached. */
export class FoldedViews {
  readonly #text: string;
  readonly #views = new Map<FoldLevel, FoldedText>();

  constructor(text: string) {
    this.#text = text;
  }

  at(level: FoldLevel): FoldedText {
    const known = this.#views.get(level);
    if (known) return known;
    const view = level === "lineEnds" ? foldText(this.#text, level) : foldMore(this.at("lineEnds"), level);
    this.#views.set(level, view);
    return view;
  }
}

/**
 * Finds the one place of `oldText`. The steps go from exact to folded (see `FoldLevel`), the first that finds anything
 * decides, and several places are never chosen from: nothing is ever matched because it is similar (R064).
 */
export function findPlace(lines: TextLines, views: FoldedViews, edit: { oldText: string; newText: string }): Search {
  const { oldText, newText } = edit;
  const exact = placesOf(lines.text, oldText, (at) => at);
  if (exact.length > 1) return { found: "many", starts: exact, how: "exact" };
  const [only] = exact;
  if (only !== undefined) {
    const twins = twinsOf(lines.text, views, oldText);
    if (twins.length > 1) return { found: "many", starts: twins, how: "lineEnds" };
    const span = wholeLineEnds(lines.text, only, only + oldText.length);
    return { found: "one", place: { ...span, how: "exact", oldText, newText } };
  }
  let tried = { text: lines.text, wanted: oldText };
  for (const level of LEVELS) {
    const view = views.at(level);
    const wanted = foldText(oldText, level).text;
    // Nothing to fold at this level: it would find what the one before has not found.
    if (view.text === tried.text && wanted === tried.wanted) continue;
    tried = { text: view.text, wanted };
    const search = findFolded(lines.text, view, { level, wanted, edit });
    if (search.found !== "none") return search;
  }
  const atEnd = findAtEnd(lines.text, views.at("trailingSpaces"), edit);
  return atEnd.found === "none" ? findShifted(lines, views.at("trailingSpaces"), edit) : atEnd;
}

/** All places of a text of several lines when line ends do not count: a model does not see which of them it means (R246). */
function twinsOf(text: string, views: FoldedViews, oldText: string): number[] {
  if (!text.includes("\r") || !/[\r\n]/.test(oldText)) return [];
  const view = views.at("lineEnds");
  return placesOf(view.text, foldText(oldText, "lineEnds").text, (at) => view.toOriginal(at, "after"));
}

/** A newline at the end of `oldText` that the last line of the file has not: matched without, and none is added (R048). */
function findAtEnd(text: string, view: FoldedText, edit: { oldText: string; newText: string }): Search {
  const oldText = edit.oldText.replace(/\r?\n$/, "");
  const wanted = foldText(oldText, "trailingSpaces").text;
  const missesNewline = oldText !== edit.oldText && wanted !== "" && !text.endsWith("\n");
  if (!missesNewline || !view.text.endsWith(wanted)) return { found: "none" };
  const at = view.text.length - wanted.length;
  const start = view.toOriginal(at, "after");
  if (start === undefined) return { found: "none" };
  const newText = edit.newText.replace(/\r?\n$/, "");
  const folded = { view, at, text: wanted };
  const place = { start, end: text.length, how: "trailingSpaces" as const, oldText, newText, folded };
  return { found: "one", place };
}

interface FoldedEdit {
  readonly level: FoldLevel;
  /** The folded `oldText`. */
  readonly wanted: string;
  readonly edit: { readonly oldText: string; readonly newText: string };
}

function findFolded(text: string, view: FoldedText, { level, wanted, edit }: FoldedEdit): Search {
  const { oldText, newText } = edit;
  if (wanted === "") return { found: "none" };
  // Spaces that were dropped at its end stand for "the line ends here".
  const endsLine = level === "trailingSpaces" && /[^\S\r\n]$/.test(oldText);
  const spans = placesOf(view.text, wanted, (at) => {
    const end = at + wanted.length;
    if (endsLine && end < view.text.length && view.text[end] !== "\n") return undefined;
    const from = view.toOriginal(at, "after");
    const to = view.toOriginal(end, endsLine ? "after" : "before");
    return from === undefined || to === undefined ? undefined : { at, ...wholeLineEnds(text, from, to) };
  });
  if (spans.length > 1) return { found: "many", starts: spans.map(({ start }) => start), how: level };
  const [only] = spans;
  if (!only) return { found: "none" };
  const { at, start, end } = only;
  const folded = { view, at, text: wanted };
  return { found: "one", place: { start, end, how: level, oldText, newText, folded } };
}

/** All places of a text, overlapping ones too, that `accept` makes something of; a few more than one are enough. */
function placesOf<Found>(text: string, wanted: string, accept: (at: number) => Found | undefined): Found[] {
  const places: Found[] = [];
  for (let at = text.indexOf(wanted); at >= 0 && places.length < MAX_PLACES; at = text.indexOf(wanted, at + 1)) {
    const place = accept(at);
    if (place !== undefined) places.push(place);
  }
  return places;
}

/** A span never begins or ends between CR and LF: the newline in the span, or outside of it, is the whole pair (R046). */
function wholeLineEnds(text: string, start: number, end: number): { start: number; end: number } {
  const splitsStart = text[start] === "\n" && text[start - 1] === "\r";
  const splitsEnd = text[end - 1] === "\r" && text[end] === "\n";
  return { start: splitsStart ? start - 1 : start, end: splitsEnd ? end - 1 : end };
}
