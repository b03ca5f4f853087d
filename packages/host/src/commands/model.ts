import type { Model, ThinkingLevel } from "@tau/llm";
import { nearestThinkingLevel, THINKING_LEVELS, thinkingLevelsOf } from "../session/models/thinking-levels.ts";
import type { SessionCore } from "../session/session-core.ts";
import { SessionError } from "../session/session-error.ts";
import { type CommandContext, type CommandRows, servicesOf } from "./command-row.ts";
import { oneOf, text } from "./fields.ts";

/** Model and thinking level. A level that a model lacks shows as the nearest one that it has. */
export const modelRows: CommandRows<
  | "set_model"
  | "cycle_model"
  | "get_available_models"
  | "set_thinking_level"
  | "cycle_thinking_level"
  | "get_available_thinking_levels"
> = {
  set_model: {
    describe: "Changes the model, from the next request on.",
    fields: { provider: text, modelId: text },
    answer: "the model",
    async run({ session }, { provider, modelId }) {
      const model = await session.findModel(provider, modelId);
      if (!model) throw new SessionError("unknown_model", `${provider}/${modelId}`);
      return session.setModel(model);
    },
  },
  cycle_model: {
    describe: "Changes to the next model that has a key; null when there is one model only.",
    fields: {},
    answer: "{model, thinkingLevel, isScoped}",
    async run(context) {
      const { session } = context;
      const { model } = session.parts.models;
      const models = await selectable(context, "cycle_model");
      const at = models.findIndex((each) => isSame(each, model));
      const next = models[(at + 1) % models.length];
      if (!next || isSame(next, model)) return null;
      session.setModel(next);
      return { model: next, thinkingLevel: shownLevel(session), isScoped: false };
    },
  },
  get_available_models: {
    describe: "The models with a key.",
    fields: {},
    answer: "{models}",
    run: async (context) => ({ models: await selectable(context, "get_available_models") }),
  },
  set_thinking_level: {
    describe: "Changes how much the model thinks. A level that it lacks becomes the nearest one that it has.",
    fields: { level: oneOf(...THINKING_LEVELS) },
    run({ session }, { level }) {
      setLevel(session, nearestThinkingLevel(session.parts.models.model, level));
      return undefined;
    },
  },
  cycle_thinking_level: {
    describe: "Changes to the next thinking level; null for a model that does not think.",
    fields: {},
    answer: "{level}",
    run({ session }) {
      const levels = thinkingLevelsOf(session.parts.models.model);
      const level = levels[(levels.indexOf(shownLevel(session)) + 1) % levels.length];
      if (level === undefined || levels.length === 1) return null;
      setLevel(session, level);
      return { level };
    },
  },
  get_available_thinking_levels: {
    describe: "The thinking levels of the model.",
    fields: {},
    answer: "{levels}",
    run: ({ session }) => ({ levels: thinkingLevelsOf(session.parts.models.model) }),
  },
};

/** The level as this model takes it. */
export function shownLevel({ parts }: SessionCore): ThinkingLevel {
  return nearestThinkingLevel(parts.models.model, parts.models.level);
}

function setLevel(session: SessionCore, level: ThinkingLevel): void {
  session.checkOpen();
  session.parts.models.setLevel(level);
}

/** A script is not a model that one would choose; it is listed when it is what runs. */
async function selectable(context: CommandContext, command: string): Promise<Model[]> {
  const models = await servicesOf(context, command).availableModels();
  const { model } = context.session.parts.models;
  return models.filter((each) => each.api !== "scripted" || isSame(each, model));
}

function isSame(a: Model, b: Model): boolean {
  return a.provider === b.provider && a.id === b.id;
}
