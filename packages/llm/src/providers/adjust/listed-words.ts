const LIST =
  /(?:\b(?:supported|valid|allowed|permitted|accepted|available|possible)(?: \w+)? ?(?:values|levels|options|efforts)?(?: are| is)?|(?:must|should|can) be(?: one of)?|expected(?: one of)?|one of|choose from|permitted|options)[: ]{1,3}([^.;]{1,300})/gi;
const QUOTED = /["'`]([\w-]{1,30})["'`]/g;
const BARE = /[\w-]{2,30}/g;
const FILLERS = new Set([
  "and",
  "or",
  "are",
  "is",
  "the",
  "one",
  "of",
  "be",
  "either",
  "values",
  "value",
  "for",
  "this",
  "model",
  "by",
  "with",
]);

/**
 * The words that a refusal lists for a field whose value it did not take, e.g. "Supported values are: 'low' and 'high'".
 * A list with the value that was sent is not meant. Empty when there is none.
 */
export function listedWords(text: string, sent: string): string[] {
  for (const [, tail = ""] of text.matchAll(LIST)) {
    const quoted = [...tail.matchAll(QUOTED)].map(([, word = ""]) => word);
    // Without quotes a list is known by its commas.
    const bare = tail.includes(",") || / (?:or|and) /.test(tail) ? (tail.match(BARE) ?? []) : [];
    const words = (quoted.length > 0 ? quoted : bare).filter((word) => !FILLERS.has(word));
    if (words.length > 0 && !words.includes(sent)) return words;
  }
  return [];
}
