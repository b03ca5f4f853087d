import type { Model, ThinkingLevel } from "../../protocol/model.ts";
import { effortOf } from "../request/effort.ts";
import type { Mend } from "./mends.ts";

/**
 * The `reasoning` field for a thinking level. Undefined for a model that does not reason, and for "off" where the
 * model has no word for it, since then it cannot be switched off (R028). A level that the model lacks becomes the next
 * lower one. Summaries are asked for whenever it thinks: without them nobody sees that it does.
 */
export function reasoningField(
  model: Model,
  level: ThinkingLevel | undefined,
  mends: ReadonlySet<Mend>,
): Record<string, string> | undefined {
  if (!model.reasoning || level === undefined || mends.has("no-effort")) return undefined;
  const map = model.thinkingLevelMap ?? {};
  if (level === "off") return map.off ? { effort: map.off } : undefined;
  const effort = effortOf(level, map);
  const field: Record<string, string> = {
    ...(effort === undefined ? {} : { effort }),
    ...(mends.has("no-summary") ? {} : { summary: "auto" }),
  };
  return Object.keys(field).length === 0 ? undefined : field;
}
