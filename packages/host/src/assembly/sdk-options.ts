import { isAbsolute } from "node:path";
import type { AgentTool } from "@tau/agent";
import type { Model } from "@tau/llm";
import type { AgentSessionOptions } from "../session/options.ts";
import { ConfigError } from "../settings/config-error.ts";
import type { ModelRegistry } from "../settings/model-registry.ts";

/** What has a default in `createAgentSession`; the session itself is told all of it. */
type Completed = "model" | "tools" | "systemPrompt" | "store";

/** What a program gives to `createAgentSession`: `cwd` and `model`, and whatever it wants otherwise. */
export interface CreateAgentSessionOptions
  extends Omit<AgentSessionOptions, Completed>,
    Partial<Pick<AgentSessionOptions, "systemPrompt" | "store">> {
  /** A model, or a name as `tau --model` takes it: `provider/id[:thinking]`. */
  readonly model: Model | string;
  /**
   * Finds named models and the keys of all. Default, when the model is a name: the catalogue, `models.json` and
   * `auth.json` of tau's home, and the keys in `env`.
   */
  readonly models?: ModelRegistry;
  /**
   * Variables of the process, mostly `process.env`: keys of models, `TAU_DIR`, and what commands of the built-in tools
   * get of it, which is all but the secrets. Default: a PATH and a HOME.
   */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Tools of the program's own, and built-in ones by name. Default: read, bash, edit, write (law G2). */
  readonly tools?: readonly (AgentTool | string)[];
}

/** Whether nothing is left to fill in: then the defaults need not be loaded. */
export function isComplete(options: CreateAgentSessionOptions): options is AgentSessionOptions {
  const { model, models, tools, systemPrompt, store } = options;
  if (typeof model === "string" || models || systemPrompt === undefined || !store) return false;
  return tools?.every((tool) => typeof tool !== "string" && !("postProcess" in tool)) ?? false;
}

/**
 * What programs without types leave out or mistake.
 *
 * @throws ConfigError that names the option and what it takes
 */
export function checkOptions({ cwd, model }: Partial<CreateAgentSessionOptions> = {}): void {
  if (typeof cwd !== "string" || !isAbsolute(cwd)) {
    throw new ConfigError(`createAgentSession needs cwd, the absolute path of a folder; it got ${shown(cwd)}`);
  }
  if (!isModelOption(model)) {
    const takes = 'a name like "provider/id" or a Model object';
    throw new ConfigError(`createAgentSession needs model, ${takes}; it got ${shown(model)}`);
  }
}

function isModelOption(model: unknown): boolean {
  if (typeof model !== "object" || model === null) return typeof model === "string" && model.trim() !== "";
  return ["id", "api", "provider"].every((name) => typeof Reflect.get(model, name) === "string");
}

function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "object" && value !== null)
    return `an object with ${Object.keys(value).join(", ") || "no fields"}`;
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}
