import { isAbsolute } from "node:path";
import type { Model } from "@tau/llm";
import { configError } from "../settings/config-error.ts";
import type { OwnParts } from "./own-parts.ts";

/** What a program gives to `createAgentSession`: `cwd` and `model`, and whatever it wants otherwise. */
export interface CreateAgentSessionOptions extends Omit<OwnParts, "model"> {
  /** Absolute path of the folder to work in. */
  readonly cwd: string;
  /** A model, or a name as `tau --model` takes it: `provider/id[:thinking]`. */
  readonly model: Model | string;
  /**
   * Variables of the process, mostly `process.env`: keys of models, `TAU_DIR`, and what commands of the built-in tools
   * get of it, which is all but the secrets. Default: a PATH and a HOME.
   */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * What programs without types leave out or mistake.
 *
 * @throws ConfigError that names the option and what it takes
 */
export function checkOptions({ cwd, model }: Partial<CreateAgentSessionOptions> = {}): void {
  if (typeof cwd !== "string" || !isAbsolute(cwd)) {
    throw configError("option_invalid", { option: "cwd", takes: "the absolute path of a folder", given: shown(cwd) });
  }
  if (!isModelOption(model)) {
    const takes = 'a name like "provider/id" or a Model object';
    throw configError("option_invalid", { option: "model", takes, given: shown(model) });
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
