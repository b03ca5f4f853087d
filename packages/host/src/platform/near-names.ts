/** Longer names are compared by their first characters only, so that the cost of a hint stays bounded. */
const MAX_COMPARED = 100;

/**
 * The candidates that look most like `name`, best first, at most `count`: same letters in another case, one inside
 * the other, or few typing errors. For hints in error messages; nothing is ever done with them (R067).
 */
export function nearNames(name: string, candidates: Iterable<string>, count = 3): string[] {
  const scored: { candidate: string; score: number }[] = [];
  for (const candidate of candidates) {
    const score = distance(name, candidate);
    if (score <= Math.max(1, Math.floor(name.length / 3))) scored.push({ candidate, score });
  }
  scored.sort((a, b) => a.score - b.score || (a.candidate < b.candidate ? -1 : 1));
  return scored.slice(0, count).map(({ candidate }) => candidate);
}

function distance(name: string, candidate: string): number {
  const left = name.toLowerCase().normalize("NFKC").slice(0, MAX_COMPARED);
  const right = candidate.toLowerCase().normalize("NFKC").slice(0, MAX_COMPARED);
  if (left === right) return 0;
  const contained = left.length >= 3 && right.length >= 3 && (left.includes(right) || right.includes(left));
  return contained ? 1 : editDistance(left, right);
}

/** Levenshtein distance, one row at a time. */
function editDistance(left: string, right: string): number {
  let above = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const same = left.charCodeAt(row - 1) === right.charCodeAt(column - 1) ? 0 : 1;
      const replaced = (above[column - 1] ?? 0) + same;
      current.push(Math.min(replaced, (above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    above = current;
  }
  return above[right.length] ?? 0;
}
