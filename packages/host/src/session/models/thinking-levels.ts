import type { Model, ThinkingLevel } from "@tau/llm";

/** All levels, from the least to the most. */
export const THINKING_LEVELS: readonly ThinkingLevel[] = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];

/** Only a model that names a value for them has these. */
const BY_NAME_ONLY: ReadonlySet<ThinkingLevel> = new Set(["xhigh", "max"]);

/** The levels that a model can be asked for; `off` alone for one that does not think. */
export function thinkingLevelsOf({ reasoning, thinkingLevelMap = {} }: Model): ThinkingLevel[] {
  if (!reasoning) return ["off"];
  return THINKING_LEVELS.filter((level) => {
    const value = thinkingLevelMap[level];
    return BY_NAME_ONLY.has(level) ? typeof value === "string" : value !== null;
  });
}

/** The level itself where the model has it, else the nearest below it, else the nearest above. */
export function nearestThinkingLevel(model: Model, level: ThinkingLevel): ThinkingLevel {
  const has = thinkingLevelsOf(model);
  const at = THINKING_LEVELS.indexOf(level);
  const below = THINKING_LEVELS.slice(0, at + 1).findLast((each) => has.includes(each));
  return below ?? THINKING_LEVELS.slice(at).find((each) => has.includes(each)) ?? "off";
}
