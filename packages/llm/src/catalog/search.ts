import type { Model } from "../protocol/model.ts";

/**
 * Models that fit a search, best first. Each word must be in `provider/id name`, as it is or with letters left out
 * (`sonet` finds sonnet); a model found by whole words comes before one found by letters, a short id before a long one.
 */
export function searchModels(models: readonly Model[], query: string): Model[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...models];
  return models
    .map((model, at) => ({ model, at, rank: rankOf(model, words) }))
    .filter(({ rank }) => rank < NO_MATCH)
    .sort((a, b) => a.rank - b.rank || a.model.id.length - b.model.id.length || a.at - b.at)
    .map(({ model }) => model);
}

/** At most three references that look like the one that was not found. */
export function nearReferences(models: readonly Model[], reference: string): string[] {
  const wanted = reference.toLowerCase().replace(/^[^/]*\//, "");
  const words = wanted.split(/[^a-z0-9]+/).filter(Boolean);
  return models
    .map((model) => ({ model, shared: words.filter((word) => model.id.toLowerCase().includes(word)).length }))
    .filter(({ shared }) => shared > 0)
    .sort((a, b) => b.shared - a.shared || a.model.id.length - b.model.id.length)
    .slice(0, 3)
    .map(({ model }) => `${model.provider}/${model.id}`);
}

const NO_MATCH = 1000;

/** Lower is better; the worst word of the query counts most. */
function rankOf(model: Model, words: readonly string[]): number {
  const id = model.id.toLowerCase();
  const text = `${model.provider}/${id} ${model.name.toLowerCase()}`;
  if (words.length === 1 && (words[0] === id || words[0] === `${model.provider}/${id}`)) return -1;
  return words.reduce((rank, word) => Math.max(rank, wordRank(word, { id, text })), 0);
}

function wordRank(word: string, { id, text }: { id: string; text: string }): number {
  if (id.startsWith(word)) return 0;
  if (id.includes(word)) return 1;
  if (text.includes(word)) return 2;
  return word.length >= 3 && hasLetters(text, word) ? 3 : NO_MATCH;
}

/** Whether the letters of a word are in one word of the text, in order and with few others between them. */
function hasLetters(text: string, word: string): boolean {
  return text.split(/[\s/]+/).some((part) => {
    let found = 0;
    let first = -1;
    for (let i = 0; i < part.length && found < word.length; i++) {
      if (part[i] !== word[found]) continue;
      if (found === 0) first = i;
      found++;
      if (found === word.length) return i - first + 1 <= word.length * 1.5 + 1;
    }
    return false;
  });
}
