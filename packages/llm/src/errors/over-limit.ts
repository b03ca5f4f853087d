/** Words that say that the numbers count what goes into the model. */
const INPUT =
  /\btokens?\b|context|prompt|\binput (tokens?|length|size|is|text)|`inputs`|sequence length|seq_len|\bn_ctx\b|conversation/i;
/** Words that say that one number must not be above another one. */
const LIMIT =
  /exceed|more than|greater than|longer than|larger than|bigger than|less than|fewer than|at most|up to|no more|over(flow)?\b|above|\blimit|max(imum)?\b|max_|capacity|too (long|many|large|big)|>|<=|≤/i;
/** What else has a limit in numbers. */
const OTHERS =
  /\b(bytes?|[kmg]i?b|pixels?|images?|tools?|functions?|characters?|seconds|requests?|per (second|minute|hour|day)|items|elements|batch|stop sequences|dimensions?)\b/i;
/** A limit on the answer, which the request names by itself. */
const OUTPUT =
  /max_(new_|completion_|output_)?tokens|(completion|output|new|generated) tokens|budget_tokens|thinking budget/i;
const ABOUT_INPUT =
  /\b(input|prompt|context|messages?|conversation|history|sequence)s?\b|`inputs`|prompt_tokens|seq_len|total tokens|request has/i;

// No model has a smaller window; smaller numbers are indexes, versions and counts of other things.
const LEAST_WINDOW = 256;

/**
 * Whether a text says that there are more tokens than the model takes: two different numbers of that size, what they
 * count, and that one bounds the other, in whatever words and order (report R214). Limits on the answer, on sizes in
 * bytes and on other counts are not meant.
 */
export function saysTooManyTokens(text: string): boolean {
  if (!INPUT.test(text) || !LIMIT.test(text)) return false;
  if (OTHERS.test(text) && !/\btokens?\b/i.test(text)) return false;
  if (OUTPUT.test(text) && !ABOUT_INPUT.test(text)) return false;
  return new Set(countsIn(text)).size >= 2;
}

/** Whole numbers of a text that can count tokens, `128k` and `1,048,576` among them, without those in names and addresses. */
function countsIn(text: string): number[] {
  const found = text.matchAll(/(?<![\w.$€-])(\d[\d,_]*)(k|m)?(?![\w%-]|\.\d)/gi);
  return [...found].flatMap(([, digits = "", unit = ""]) => {
    const factor = unit === "" ? 1 : unit.toLowerCase() === "k" ? 1000 : 1_000_000;
    const count = Number(digits.replace(/[,_]/g, "")) * factor;
    return count >= LEAST_WINDOW ? [count] : [];
  });
}
