import type { Model, ThinkingLevel } from "../protocol/model.ts";

/** From the most thinking to the least, for models that lack a level. */
const LEVELS: readonly ThinkingLevel[] = ["max", "xhigh", "high", "medium", "low", "minimal"];

/**
 * The word of OpenAI's APIs for a thinking level. A level that the model lacks becomes the next lower one, else the
 * next higher one: thinking was asked for, and without a word the server would choose. Undefined when it has none at all.
 */
export function effortOf(level: ThinkingLevel, map: NonNullable<Model["thinkingLevelMap"]>): string | undefined {
  const at = LEVELS.indexOf(level);
  for (const candidate of [...LEVELS.slice(at), ...LEVELS.slice(0, at).reverse()]) {
    const value = map[candidate];
    if (typeof value === "string") return value;
    // Unmapped, the two highest do not exist; the others are the server's own words.
    if (value === undefined && candidate !== "max" && candidate !== "xhigh") return candidate;
  }
  return undefined;
}
