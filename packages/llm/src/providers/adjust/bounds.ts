import type { Bounds } from "./adjustments.ts";

const NUMBER = String.raw`["'\`(]?(-?\d[\d,_]{0,30}(?:\.\d{1,20})?)`;
const AT_MOST = new RegExp(
  String.raw`(?:<=|≤|less than or equal to|at most|no more than|(?:not|never|cannot) exceed|exceeds? the (?:limit|maximum)(?: allowed)?(?: value)? of|up to|max(?:imum)?(?: \w{1,30}){0,6}?(?: is| of|:)?|limit(?:ed)?(?: is| of| to|:)?) ?${NUMBER}`,
  "i",
);
const BELOW = new RegExp(`(?:(?<!less than or )(?:less|lower|smaller) than|<(?!=)) ?${NUMBER}`, "i");
const AT_LEAST = new RegExp(
  String.raw`(?:>=|≥|greater than or equal to|at least|no less than|min(?:imum)?(?: \w{1,30}){0,4}?(?: is| of|:)?) ?${NUMBER}`,
  "i",
);
const RANGE = new RegExp(
  String.raw`(?:range|between|from|in|be)(?: of)?(?: \w{1,30}){0,3}?:? ?[[(]?${NUMBER}["'\`]? ?(?:,|\.\.\.?|-|–|to|and) ?${NUMBER}`,
  "i",
);

/**
 * The range that a refusal names for a number that was sent; undefined when it names none that forbids it.
 * @param counts the number counts tokens: then any smaller number of the text is taken for the limit
 */
export function boundsIn(text: string, sent: number, counts: boolean): Bounds | undefined {
  const range = rangeIn(text);
  if (range && (sent > range.max || sent < range.min)) return range;
  const most = upperBound(text, sent) ?? (counts ? largestBelow(text, sent) : undefined);
  if (most !== undefined && most < sent && most > 0) return { max: most };
  const least = first(AT_LEAST, text);
  return least !== undefined && least > sent ? { min: least } : undefined;
}

function rangeIn(text: string): { min: number; max: number } | undefined {
  const match = RANGE.exec(text);
  const [min, max] = [numberOf(match?.[1]), numberOf(match?.[2])];
  return min === undefined || max === undefined || min >= max ? undefined : { min, max };
}

/** "… 65536 > 8192 …" with the number that was sent before the sign, or a limit in words. */
function upperBound(text: string, sent: number): number | undefined {
  // regexp: the text of a refusal is cut to a few thousand characters.
  const compared = first(new RegExp(String.raw`(?<!\d)${sent} ?> ?${NUMBER}`), text);
  if (compared !== undefined) return compared;
  const most = first(AT_MOST, text);
  if (most !== undefined && most < sent) return most;
  const below = first(BELOW, text);
  return below === undefined ? undefined : below - 1;
}

function largestBelow(text: string, sent: number): number | undefined {
  // From here on a number can be an output limit: smaller ones are indexes and versions.
  const smaller = numbersIn(text).filter((number) => number >= 16 && number < sent);
  return smaller.length === 0 ? undefined : Math.max(...smaller);
}

/** The whole numbers of a text, without those in names such as `gpt-4-0613`. */
export function numbersIn(text: string): number[] {
  const found = text.matchAll(/(?<![\w.-])\d[\d,_]*(?![\w-]|\.\d)/g);
  return [...found].flatMap(([digits]) => numberOf(digits) ?? []);
}

const first = (pattern: RegExp, text: string) => numberOf(pattern.exec(text)?.[1]);

function numberOf(digits: string | undefined): number | undefined {
  const number = digits === undefined ? Number.NaN : Number(digits.replace(/[,_]/g, ""));
  return Number.isFinite(number) ? number : undefined;
}
