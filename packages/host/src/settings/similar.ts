/**
 * The candidates most like `name`, best first: for hints in messages only. Likeness is the share of common letter
 * pairs (Dice), so typing errors and swapped parts count little.
 */
export function mostSimilar(name: string, candidates: Iterable<string>, count = 3): string[] {
  const wanted = letterPairs(name);
  const scored: { candidate: string; score: number }[] = [];
  for (const candidate of candidates) {
    const score = likeness(wanted, letterPairs(candidate));
    if (score >= 0.35) scored.push({ candidate, score });
  }
  scored.sort((a, b) => b.score - a.score || (a.candidate < b.candidate ? -1 : 1));
  return scored.slice(0, count).map(({ candidate }) => candidate);
}

function letterPairs(text: string): Set<string> {
  const letters = ` ${text.toLowerCase().slice(0, 100)} `;
  const pairs = new Set<string>();
  for (let at = 0; at + 1 < letters.length; at++) pairs.add(letters.slice(at, at + 2));
  return pairs;
}

function likeness(a: Set<string>, b: Set<string>): number {
  let common = 0;
  for (const pair of a) if (b.has(pair)) common++;
  return (2 * common) / (a.size + b.size);
}
