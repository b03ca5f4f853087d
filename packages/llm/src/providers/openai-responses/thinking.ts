import type { Model, ThinkingLevel } from "../../protocol/model.ts";
import { effortOf } from "../request/effort.ts";

/**
 * The `reasoning` field for a thinking level. Undefined for a model that does not reason, and for "off" where the
 * model has no word for it, since then it cannot be switched off (R028). A level that the model lacks becomes the next
 * lower one. Summaries are asked for whenever it thinks: without them nobody sees that it does.
 */
export function reasoningField(model: Model, level: ThinkingLevel | undefined): Record<string, string> | undefined {
  if (!model.reasoning || level === undefined) return undefined;
  const map = model.thinkingLevelMap ?? {};
  if (level === "off") return map.off ? { effort: map.off } : undefined;
  const effort = effortOf(level, map);
  return effort === undefined ? { summary: "auto" } : { effort, summary: "auto" };
}
