/** Thinking efforts from the least to the most, in the words of the vendors. */
const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/**
 * The word of a list that comes nearest to a value: of efforts the next lower one, else the next higher one; of other
 * words the first. Thinking that was asked for does not become none while there is another word. Undefined when the list is empty.
 */
export function nearestWord(value: unknown, words: readonly string[]): string | undefined {
  if (typeof value === "string" && words.includes(value)) return value;
  const at = typeof value === "string" ? EFFORTS.indexOf(value) : -1;
  const order = at < 0 ? [] : [...EFFORTS.slice(0, at).reverse(), ...EFFORTS.slice(at)];
  const thinking = order.filter((word) => word !== "none").find((word) => words.includes(word));
  return thinking ?? words.find((word) => word !== "none") ?? words[0];
}
