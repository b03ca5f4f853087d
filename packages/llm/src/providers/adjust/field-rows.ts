import { type Adjustments, valueAt } from "./adjustments.ts";
import { boundsIn, numbersIn } from "./bounds.ts";
import { listedWords } from "./listed-words.ts";
import { nearestWord } from "./nearest-word.ts";
import type { Refusal } from "./refusal.ts";
import { REFUSES } from "./style-rows.ts";

/** What is learned of a field. */
export interface FieldChange {
  adjustments: Adjustments;
  /** What is said of it to the user, behind the name of the model. */
  says: string;
}

/** How a request changes whose answer names this field; undefined when the answer does not fit. */
type FieldRow = (field: string, refusal: Refusal) => FieldChange | undefined;

/** Fields that limit the output, in tokens. */
export const OUTPUT_LIMITS: readonly string[] = ["max_completion_tokens", "max_tokens", "max_output_tokens"];

/** Names of the output limit of chat completions that stand for each other. */
const OTHER_NAME = new Map([
  ["max_tokens", "max_completion_tokens"],
  ["max_completion_tokens", "max_tokens"],
]);

const COUNTS_TOKENS = /tokens$/;

/** "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead." */
const renamedField: FieldRow = (field, refusal) => {
  const name = OTHER_NAME.get(field);
  const named = name !== undefined && refusal.text.includes(name);
  return named && /\b(use|try|instead|replace|favou?r)/i.test(refusal.text) ? rename(field, name, refusal) : undefined;
};

/** "Unknown parameter: 'max_completion_tokens'" */
const unknownName: FieldRow = (field, refusal) => {
  const name = OTHER_NAME.get(field);
  return name !== undefined && REFUSES.test(refusal.text) ? rename(field, name, refusal) : undefined;
};

function rename(field: string, name: string, { sent }: Refusal): FieldChange | undefined {
  const { adjustments, fields, required } = sent;
  if (required.has(field) || valueAt(fields, name) !== undefined || adjustments.renamed.size > 0) return undefined;
  const renamed = new Map([...adjustments.renamed, [field, name]]);
  return { adjustments: { ...adjustments, renamed }, says: `takes "${name}" and not "${field}"; it is sent so` };
}

/** "max_tokens: 65536 > 8192, which is the maximum allowed number of output tokens" */
const boundedNumber: FieldRow = (field, { text, sent }) => {
  const value = valueAt(sent.fields, field);
  if (typeof value !== "number") return undefined;
  const found = boundsIn(text, value, COUNTS_TOKENS.test(field));
  if (!found) return undefined;
  const { adjustments } = sent;
  const bounds = new Map([...adjustments.bounds, [field, { ...adjustments.bounds.get(field), ...found }]]);
  const range = found.max !== undefined && value > found.max ? `at most ${found.max}` : `at least ${found.min}`;
  return { adjustments: { ...adjustments, bounds }, says: `takes ${range} as "${field}"; it is kept to that` };
};

/** "Supported values are: 'low', 'medium', and 'high'." */
const listedWord: FieldRow = (field, { text, sent }) => {
  const value = valueAt(sent.fields, field);
  if (typeof value !== "string") return undefined;
  const words = listedWords(text, value);
  const word = nearestWord(value, words);
  if (word === undefined || word === value) return undefined;
  const { adjustments } = sent;
  return {
    adjustments: { ...adjustments, words: new Map([...adjustments.words, [field, words]]) },
    says: `does not take "${value}" as "${field}"; "${word}" is sent`,
  };
};

/** Anything else that is said against a field, e.g. "thinking: Extra inputs are not permitted". */
const refusedField: FieldRow = (field, { text, places, sent }) => {
  const { adjustments, required } = sent;
  // Names with an underscore stand in no sentence by chance; a limit on the output is spoken of for many reasons.
  const named = places.length > 0 || (field.includes("_") && !OUTPUT_LIMITS.includes(field));
  if (required.has(field) || !(named || REFUSES.test(text) || /too (large|big|high)/i.test(text))) return undefined;
  const without = new Set([...adjustments.without, field]);
  return { adjustments: { ...adjustments, without }, says: `refused "${field}"; it is left out` };
};

/** In this order: what the server asks for before what it refuses. */
export const FIELD_ROWS: readonly FieldRow[] = [renamedField, boundedNumber, listedWord, unknownName, refusedField];

// Less is not an answer to ask for: the prompt has to become shorter.
const LEAST_ANSWER = 256;
// Servers count a few tokens of their own.
const MARGIN = 32;

/**
 * Prompt and output limit together are longer than the window, though the prompt alone is not: "188240 + 21333 >
 * 200000", "maximum context length is 4097 tokens. However, you requested 9000 tokens (1000 in the messages, 8000 in
 * the completion)". The limit fits this request only; the window is what is learned.
 */
export function fittingOutput({ text, sent }: Refusal): (FieldChange & { now: Adjustments }) | undefined {
  const field = OUTPUT_LIMITS.find((name) => typeof sent.fields[name] === "number");
  const limit = field === undefined ? undefined : sent.fields[field];
  if (field === undefined || typeof limit !== "number") return undefined;
  const found = windowIn(numbersIn(text), limit);
  const room = found ? found.window - found.prompt - MARGIN : 0;
  if (!found || room < LEAST_ANSWER) return undefined;
  const adjustments = { ...sent.adjustments, window: Math.min(sent.adjustments.window, found.window) };
  const bounds = new Map([...adjustments.bounds, [field, { max: room }]]);
  return {
    adjustments,
    now: { ...adjustments, bounds },
    says: `has a context window of ${found.window} tokens; the length of answers is kept to what is left of it`,
  };
}

/** Which of the numbers are prompt and window: one that the prompt and the limit exceed together, by their sum where it is told. */
function windowIn(numbers: readonly number[], limit: number): { prompt: number; window: number } | undefined {
  const others = [...new Set(numbers)].filter((number) => number !== limit);
  if (others.length === numbers.length || others.length > 12) return undefined;
  const pairs = others.flatMap((prompt) =>
    others
      .filter((window) => prompt < window && prompt + limit > window && window > limit / 2)
      .map((window) => ({ prompt, window })),
  );
  const summed = pairs.filter(({ prompt, window }) => numbers.includes(prompt + limit) && window !== prompt + limit);
  return (summed.length > 0 ? summed : pairs).sort((a, b) => b.window - a.window)[0];
}
