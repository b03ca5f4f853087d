/** Longer names are compared by their first characters only, so that the cost of a hint stays bounded. */
const MAX_COMPARED = 100;

/**
 * The candidates that look most like `name`, best first, at most `count`: same letters in another case, one inside
 * the other, or few typing errors. For hints in error messages; nothing is ever done with them.
 */
export function nearNames(name: string, candidates: Iterable<string>, count = 3): string[] {
  const scored: { candidate: string; score: number }[] = [];
  for (const candidate of candidates) {
    const score = distance(name, candidate);
    if (score <= Math.max(1, Math.floor(name.length / 3))) scored.push({ candidate, score });
  }
  const surplus = (candidate: string) => Math.abs(candidate.length - name.length);
  scored.sort(
    (a, b) => a.score - b.score || surplus(a.candidate) - surplus(b.candidate) || (a.candidate < b.candidate ? -1 : 1),
  );
  return scored.slice(0, count).map(({ candidate }) => candidate);
}

function distance(name: string, candidate: string): number {
  const left = name.toLowerCase().normalize("NFKC").slice(0, MAX_COMPARED);
  const right = candidate.toLowerCase().normalize("NFKC").slice(0, MAX_COMPARED);
  if (left === right) return 0;
  const contained = left.length >= 3 && right.length >= 3 && (left.includes(right) || right.includes(left));
  return contained ? 1 : editDistance(left, right);
}

/** Levenshtein distance where two swapped neighbours count as one error, one row at a time. */
function editDistance(left: string, right: string): number {
  let twoAbove: number[] = [];
  let above = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1] ? 0 : 1;
      const replaced = (above[column - 1] ?? 0) + same;
      const swapped = row > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      const neighbours = Math.min(replaced, (above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1);
      current.push(swapped ? Math.min(neighbours, (twoAbove[column - 2] ?? Number.POSITIVE_INFINITY) + 1) : neighbours);
    }
    twoAbove = above;
    above = current;
  }
  return above[right.length] ?? 0;
}
