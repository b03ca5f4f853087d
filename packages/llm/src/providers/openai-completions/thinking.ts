import type { Model, ThinkingLevel } from "../../protocol/model.ts";
import { isRecord } from "../../stream/json.ts";
import { effortOf } from "../request/effort.ts";
import type { ServerTraits, ThinkingFormat } from "./compat.ts";

interface Wish {
  on: boolean;
  /** The server's word for the level; undefined when it has none or the level must not be sent. */
  effort: string | undefined;
  traits: ServerTraits;
}

const FORMATS: Record<ThinkingFormat, (wish: Wish) => Record<string, unknown>> = {
  openai: ({ effort, traits }) => (effort !== undefined && traits.reasoningEffort ? { reasoning_effort: effort } : {}),
  openrouter: ({ on, effort }) => ({ reasoning: effort !== undefined ? { effort } : { enabled: on } }),
  deepseek: (wish) => ({ thinking: { type: wish.on ? "enabled" : "disabled" }, ...effortBeside(wish) }),
  together: (wish) => ({ reasoning: { enabled: wish.on }, ...effortBeside(wish) }),
  zai: ({ on }) => ({ thinking: { type: on ? "enabled" : "disabled" } }),
  qwen: ({ on }) => ({ enable_thinking: on }),
  "qwen-chat-template": ({ on }) => ({ chat_template_kwargs: { enable_thinking: on, preserve_thinking: true } }),
  "chat-template": (wish) => ({ chat_template_kwargs: templateArguments(wish) }),
  "string-thinking": ({ on, effort }) => ({ thinking: effort ?? (on ? "enabled" : "disabled") }),
};

/**
 * Request fields that ask for a thinking level. Nothing for a model that does not reason, and nothing for "off" where
 * the model's map says that it cannot be switched off (R028). A level that the model lacks becomes the next lower one.
 */
export function thinkingFields(
  model: Model,
  level: ThinkingLevel | undefined,
  traits: ServerTraits,
): Record<string, unknown> {
  if (!model.reasoning || level === undefined) return {};
  const map = model.thinkingLevelMap ?? {};
  const format = Object.hasOwn(FORMATS, traits.thinkingFormat) ? FORMATS[traits.thinkingFormat] : FORMATS.openai;
  if (level === "off") {
    if (map.off === null) return {};
    return format({ on: false, effort: map.off, traits });
  }
  const effort = effortOf(level, map);
  return format({ on: true, effort, traits });
}

function effortBeside({ on, effort, traits }: Wish): Record<string, unknown> {
  return on && effort !== undefined && traits.reasoningEffort ? { reasoning_effort: effort } : {};
}

/** Template arguments from the model's `compat`, in which `{"$var": "thinking.enabled"}` stands for a value. */
function templateArguments({ on, effort, traits }: Wish): Record<string, unknown> {
  const values = new Map<string, unknown>([
    ["thinking.enabled", on],
    ["thinking.effort", effort],
  ]);
  const entries = Object.entries(traits.chatTemplateKwargs).map(([name, value]) => {
    const variable = isRecord(value) && typeof value.$var === "string" ? value.$var : undefined;
    return [name, variable === undefined ? value : values.get(variable)];
  });
  return Object.fromEntries(entries);
}
