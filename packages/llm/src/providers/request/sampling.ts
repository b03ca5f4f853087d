import type { BodyFields, Model } from "../../protocol/model.ts";
import type { StreamOptions } from "../../protocol/request.ts";
import { takenLevel } from "./effort.ts";

/** Fields that make the request what it is: a model's parameters must not replace them. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  ...["model", "messages", "input", "instructions", "tools", "stream", "stream_options", "store"],
]);

/**
 * The user's parameters for the body of a request (`samplingParams` of the model, over them those of the level that is
 * taken). A temperature that was asked for with the request wins.
 */
export function samplingFields(
  { samplingParams, samplingParamsByThinkingLevel: byLevel, thinkingLevelMap = {} }: Model,
  { thinkingLevel, temperature }: StreamOptions,
): BodyFields {
  const level = thinkingLevel ?? "off";
  const taken = level === "off" ? level : (takenLevel(level, thinkingLevelMap) ?? level);
  const fields = { ...samplingParams, ...byLevel?.[taken] };
  const left = Object.entries(fields).filter(
    ([name]) => !OWN_FIELDS.has(name) && !(name === "temperature" && temperature !== undefined),
  );
  return Object.fromEntries(left);
}
