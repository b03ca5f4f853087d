/**
 * How far a text is folded before it is searched, in the order in which the steps are tried (R063, R064): line ends;
 * then characters that models mix up; then spaces at the ends of lines. Each step includes those before it.
 */
export type FoldLevel = "lineEnds" | "characters" | "trailingSpaces";

/** A folded text that knows where each of its places lies in the original. */
export interface FoldedText {
  readonly text: string;
  /**
   * The place in the original; where characters were dropped, `before` or `after` them. `undefined` inside something
   * that was folded as a whole.
   */
  toOriginal(index: number, side: "before" | "after"): number | undefined;
}

/** One place where the folding changed the length. */
interface Shift {
  readonly at: number;
  readonly folded: number;
  readonly originalAt: number;
  readonly original: number;
}

/** Characters that look alike and that models write for one another, by what they fold to. */
const LOOK_ALIKES: readonly (readonly [string, RegExp])[] = [
  [" ", /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/],
  ["-", /[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]/],
  ["'", /[\u2018\u2019\u201a\u201b\u2032\u02bc\uff07]/],
  ['"', /[\u201c\u201d\u201e\u201f\u2033\uff02]/],
];
const SPECIAL = LOOK_ALIKES.map(([, set]) => set.source.slice(1, -1)).join("");

/** Of a text with LF only. The look-behind keeps a long run of spaces from being tried at each of its places. */
const TRAILING = "(?<![^\\S\\n])[^\\S\\n]+(?=\\n|$)";
/** Look-alikes, full-width forms of ASCII, the ellipsis. */
const CHARACTERS = `[${SPECIAL}\uff01-\uff5e\u2026]`;
/** Letters with combining marks, and Hangul in pieces: compared in composed form. */
const COMPOSED = "\\P{M}\\p{M}+|[\\u1100-\\u11ff]{2,}";
const NEEDS_COMPOSING = /\p{M}|[\u1100-\u11ff]/u;

/** Folds a text; linear in its length. */
export function foldText(original: string, level: FoldLevel): FoldedText {
  return foldMore(foldLineEnds(original), level);
}

/** Folds on from a text whose line ends are folded already. */
export function foldMore(lineEnds: FoldedText, level: FoldLevel): FoldedText {
  if (level === "lineEnds") return lineEnds;
  const folded = foldCharacters(lineEnds.text, level);
  return {
    text: folded.text,
    toOriginal(index, side) {
      const place = folded.toOriginal(index, side);
      return place === undefined ? undefined : lineEnds.toOriginal(place, side);
    },
  };
}

/** On its own, since there is one to drop in every line of a file with CRLF. A CR alone is a line end too. */
function foldLineEnds(original: string): FoldedText {
  if (!original.includes("\r")) return { text: original, toOriginal: (index) => index };
  const dropped: number[] = [];
  for (let at = original.indexOf("\r\n"); at >= 0; at = original.indexOf("\r\n", at + 2)) dropped.push(at);
  return {
    text: original.replace(/\r\n?/g, "\n"),
    toOriginal(index, side) {
      const wanted = side === "after" ? index : index - 1;
      return index + countUntil(dropped, (at, nth) => at - nth <= wanted);
    },
  };
}

function foldCharacters(original: string, level: FoldLevel): FoldedText {
  const pattern = patternFor(original, level);
  if (original.search(pattern) < 0) return { text: original, toOriginal: (index) => index };
  const shifts: Shift[] = [];
  let grown = 0;
  const text = original.replace(pattern, (found: string, dropped: unknown, originalAt: number) => {
    const folded = dropped === undefined ? foldOne(found) : "";
    if (folded.length !== found.length) {
      shifts.push({ at: originalAt + grown, folded: folded.length, originalAt, original: found.length });
      grown += folded.length - found.length;
    }
    return folded;
  });
  return { text, toOriginal: (index, side) => place(shifts, index, side) };
}

/** What is dropped is in the one group of the pattern, which matches nothing at the lower level. */
function patternFor(text: string, level: FoldLevel): RegExp {
  const dropped = level === "trailingSpaces" ? TRAILING : "[]";
  const folded = NEEDS_COMPOSING.test(text) ? `${COMPOSED}|${CHARACTERS}` : CHARACTERS;
  // regexp: its parts are the constants above, and a look-behind starts each run at one place.
  return new RegExp(`(${dropped})|${folded}`, "gu");
}

function foldOne(found: string): string {
  const character = found.normalize("NFC");
  if (character === "\u2026") return "...";
  if (character.length > 1) return character;
  const lookAlike = LOOK_ALIKES.find(([, set]) => set.test(character));
  if (lookAlike) return lookAlike[0];
  const code = character.charCodeAt(0);
  return code >= 0xff01 && code <= 0xff5e ? String.fromCharCode(code - 0xfee0) : character;
}

function place(shifts: readonly Shift[], index: number, side: "before" | "after"): number | undefined {
  // The last shift that begins before the place; those that begin at it decide by side.
  const earlier = countUntil(shifts, ({ at }) => at < index);
  const last = shifts[earlier - 1];
  if (last && index < last.at + last.folded) return undefined;
  let original = last ? last.originalAt + last.original + (index - last.at - last.folded) : index;
  for (let next = earlier; side === "after" && shifts[next]?.at === index && shifts[next]?.folded === 0; next++) {
    original += shifts[next]?.original ?? 0;
  }
  return original;
}

/** How many items, from the first on, fulfil a test that no item after them does; by halving. */
function countUntil<Item>(items: readonly Item[], test: (item: Item, nth: number) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = items[middle];
    if (item !== undefined && test(item, middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
