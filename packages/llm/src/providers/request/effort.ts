import type { Model, ThinkingLevel } from "../../protocol/model.ts";

/** From the most thinking to the least, for models that lack a level. */
const LEVELS: readonly ThinkingLevel[] = ["max", "xhigh", "high", "medium", "low", "minimal"];

/**
 * The level that a model is asked for: one that it lacks becomes the next lower one, else the next higher one, since
 * thinking was asked for, and without a word the server would choose. Undefined when it has none at all.
 */
export function takenLevel(
  level: ThinkingLevel,
  map: NonNullable<Model["thinkingLevelMap"]>,
): ThinkingLevel | undefined {
  const at = LEVELS.indexOf(level);
  return [...LEVELS.slice(at), ...LEVELS.slice(0, at).reverse()].find((candidate) => {
    const value = map[candidate];
    // Unmapped, the two highest do not exist; the others are the server's own words.
    return typeof value === "string" || (value === undefined && candidate !== "max" && candidate !== "xhigh");
  });
}

/** The word of OpenAI's APIs for a thinking level, or for the one that is taken instead. */
export function effortOf(level: ThinkingLevel, map: NonNullable<Model["thinkingLevelMap"]>): string | undefined {
  const taken = takenLevel(level, map);
  return taken === undefined ? undefined : (map[taken] ?? taken);
}
