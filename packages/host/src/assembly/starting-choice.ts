import type { ThinkingLevel } from "@tau/llm";
import type { ModelInUse } from "../session/session-host.ts";
import type { ModelChoice } from "../settings/model-registry.ts";
import type { Settings } from "../settings/settings.ts";
import { LEVELS } from "../settings/settings-table.ts";
import type { SessionStore } from "../store/session-store.ts";
import { chooseModel, recordedModel } from "./choose-model.ts";
import type { Foundation } from "./configuration.ts";
import type { AssemblyInput } from "./input.ts";
import type { OwnParts } from "./own-parts.ts";

interface ChoicePlan {
  readonly input: AssemblyInput;
  readonly foundation: Foundation;
  readonly store: SessionStore;
  readonly own: OwnParts;
  readonly inUse?: ModelInUse | undefined;
}

/**
 * Model and thinking level that a session starts with: what a program gives, what is asked for, what the session had,
 * what the settings say. A session that follows another one keeps the choice of its file, else that of the one before.
 */
export async function startingChoice(plan: ChoicePlan, warn: (text: string) => void): Promise<ModelInUse> {
  const { input, foundation, store, own, inUse } = plan;
  const { registry, settings } = foundation;
  const recorded = store.choice();
  if (own.model) return { model: own.model, thinkingLevel: own.thinkingLevel ?? "off" };
  if (!registry) throw new Error("a session without a model of its own needs a registry to find one");
  if (inUse) {
    const model = await recordedModel({ registry, recorded: recorded.model, warn });
    return { model: model ?? inUse.model, thinkingLevel: levelNamed(recorded.thinkingLevel) ?? inUse.thinkingLevel };
  }
  const request = input.model ?? {};
  const choice = await chooseModel({ request, registry, settings, recorded: recorded.model, warn });
  const wanted = request.thinkingLevel ?? choice.thinkingLevel ?? recorded.thinkingLevel;
  return { model: choice.model, thinkingLevel: levelFor(choice, wanted, settings) };
}

/** The level that is wanted, or the setting; off for a model without thinking. */
function levelFor({ model }: ModelChoice, wanted: string | undefined, settings: Settings): ThinkingLevel {
  const own = settings.modelThinkingLevels ?? {};
  const name = `${model.provider}/${model.id}`;
  const level =
    levelNamed(wanted) ?? (Object.hasOwn(own, name) ? own[name] : undefined) ?? settings.defaultThinkingLevel;
  return model.reasoning ? level : "off";
}

function levelNamed(name: string | undefined): ThinkingLevel | undefined {
  return LEVELS.find((each) => each === name);
}
