import type { Model } from "@tau/llm";
import type { AgentSession } from "../../session/agent-session.ts";
import { nearestThinkingLevel, THINKING_LEVELS, thinkingLevelsOf } from "../../session/models/thinking-levels.ts";
import { oneOf, text } from "../fields.ts";
import type { RpcContext, RpcMethods } from "../method.ts";

/** Model and thinking level. A level that a model lacks shows as the nearest one that it has. */
export const modelMethods: RpcMethods<
  | "set_model"
  | "cycle_model"
  | "get_available_models"
  | "set_thinking_level"
  | "cycle_thinking_level"
  | "get_available_thinking_levels"
> = {
  set_model: {
    fields: { provider: text, modelId: text },
    run: ({ session }, { provider, modelId }) => session.chooseModel(provider, modelId),
  },
  cycle_model: {
    fields: {},
    async run(context) {
      const { session } = context;
      const models = await selectable(context);
      const at = models.findIndex((model) => isSame(model, session.model));
      const next = models[(at + 1) % models.length];
      if (!next || isSame(next, session.model)) return null;
      session.setModel(next);
      return { model: next, thinkingLevel: shownLevel(session), isScoped: false };
    },
  },
  get_available_models: {
    fields: {},
    run: async (context) => ({ models: await selectable(context) }),
  },
  set_thinking_level: {
    fields: { level: oneOf(...THINKING_LEVELS) },
    run({ session }, { level }) {
      session.setThinkingLevel(nearestThinkingLevel(session.model, level));
      return undefined;
    },
  },
  cycle_thinking_level: {
    fields: {},
    run({ session }) {
      const levels = thinkingLevelsOf(session.model);
      const level = levels[(levels.indexOf(shownLevel(session)) + 1) % levels.length];
      if (level === undefined || levels.length === 1) return null;
      session.setThinkingLevel(level);
      return { level };
    },
  },
  get_available_thinking_levels: {
    fields: {},
    run: ({ session }) => ({ levels: thinkingLevelsOf(session.model) }),
  },
};

/** The level as this model takes it. */
export function shownLevel({ model, state }: AgentSession) {
  return nearestThinkingLevel(model, state.thinkingLevel);
}

/** A script is no model that one would choose; it is listed when it is what runs. */
async function selectable({ services, session }: RpcContext): Promise<Model[]> {
  const models = await services.availableModels();
  return models.filter((model) => model.api !== "scripted" || isSame(model, session.model));
}

function isSame(a: Model, b: Model): boolean {
  return a.provider === b.provider && a.id === b.id;
}
