import type { Model, ThinkingLevel } from "../../protocol/model.ts";

type Level = Exclude<ThinkingLevel, "off">;

/** From the most thinking to the least, for models that lack a level. */
const LEVELS: readonly Level[] = ["max", "xhigh", "high", "medium", "low", "minimal"];

/** Words and budgets (in tokens) of the levels that a model says nothing of. */
const DEFAULTS: Record<Level, { effort?: string; budget: number }> = {
  minimal: { effort: "low", budget: 1024 },
  low: { effort: "low", budget: 4096 },
  medium: { effort: "medium", budget: 10_240 },
  high: { effort: "high", budget: 20_480 },
  xhigh: { budget: 32_768 },
  max: { budget: 65_536 },
};

const MIN_BUDGET = 1024;
// What must be left of the output limit for the answer itself.
const MIN_ANSWER = 1024;

// https://docs.anthropic.com/en/docs/build-with-claude/adaptive-thinking: from 4.6 on; later models take nothing else.
const ADAPTIVE_IDS =
  /claude-(?:(?:opus|sonnet|haiku)-(?:4[-.](?:[6-9]|\d\d)(?!\d)|[5-9](?!\d))|(?!opus|sonnet|haiku|instant|[1-4]\b)[a-z]+-)/;

export interface ThinkingFields {
  thinking?: Record<string, unknown>;
  output_config?: { effort: string };
  max_tokens: number;
}

/**
 * Request fields for a thinking level: adaptive thinking with an effort for models that take it, else a budget of
 * tokens inside the output limit, which grows for it as far as the model allows. Nothing for a model that does not
 * reason and for `off`. A level that the model lacks becomes the next lower one, or the lowest it has.
 *
 * @param limit output limit in tokens
 * @param most how far the limit may grow
 */
export function thinkingFields(
  model: Model,
  level: ThinkingLevel | undefined,
  { limit, most }: { limit: number; most: number },
): ThinkingFields {
  if (!model.reasoning || level === undefined) return { max_tokens: limit };
  const map = model.thinkingLevelMap ?? {};
  if (level === "off") {
    // A model that thinks by itself has to be told; one that cannot stop must not be (R028).
    const told = isAdaptive(model) && map.off !== null ? { thinking: { type: "disabled" } } : {};
    return { ...told, max_tokens: limit };
  }
  if (isAdaptive(model)) return { ...adaptive(level, map), max_tokens: limit };
  const budget = budgetOf(level, map);
  const grown = Math.min(most, Math.max(limit, budget + MIN_ANSWER));
  const fitting = Math.min(budget, grown - MIN_ANSWER);
  if (fitting < MIN_BUDGET) return { max_tokens: limit };
  return { thinking: { type: "enabled", budget_tokens: fitting }, max_tokens: grown };
}

export function isAdaptive({ id, compat }: Model): boolean {
  return typeof compat?.forceAdaptiveThinking === "boolean" ? compat.forceAdaptiveThinking : ADAPTIVE_IDS.test(id);
}

type LevelMap = NonNullable<Model["thinkingLevelMap"]>;

function adaptive(level: Level, map: LevelMap): Omit<ThinkingFields, "max_tokens"> {
  // Newer models leave the text of their thoughts out unless they are asked for it.
  const thinking = { type: "adaptive", display: "summarized" };
  const effort = nearestLevels(level)
    .map((candidate) => wordOf(candidate, map))
    .find((word) => word !== undefined);
  return effort === undefined ? { thinking } : { thinking, output_config: { effort } };
}

function wordOf(level: Level, map: LevelMap): string | undefined {
  const word = map[level];
  if (word === null) return undefined;
  return word ?? DEFAULTS[level].effort;
}

function budgetOf(level: Level, map: LevelMap): number {
  for (const candidate of nearestLevels(level)) {
    const value = map[candidate];
    if (value === null) continue;
    const budget = Number(value);
    return Number.isInteger(budget) && budget >= MIN_BUDGET ? budget : DEFAULTS[candidate].budget;
  }
  return MIN_BUDGET;
}

/** A level, then those below it, then those above it, nearest first. */
function nearestLevels(level: Level): Level[] {
  const at = LEVELS.indexOf(level);
  return [...LEVELS.slice(at), ...LEVELS.slice(0, at).reverse()];
}
