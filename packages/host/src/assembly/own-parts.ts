import type { AgentTool } from "@tau/agent";
import type { Model } from "@tau/llm";
import type { Compactor } from "../compaction/compactor.ts";
import type { AgentSessionOptions, SessionSettings } from "../session/options.ts";
import type { ModelRegistry } from "../settings/model-registry.ts";
import type { ToolFacts } from "../tools/definition.ts";

/** Settings of a session, each group laid over the defaults: `{retry: {maxRetries: 5}}` changes nothing else. */
export type SessionSettingsInput = {
  readonly [Key in keyof SessionSettings]?: SessionSettings[Key] extends readonly unknown[] | string | undefined
    ? SessionSettings[Key]
    : Partial<SessionSettings[Key]>;
};

/** Parts of a session that a program made itself; each takes the place of the one that would be made. */
export interface OwnParts extends Partial<Omit<AgentSessionOptions, "cwd" | "tools" | "compactor" | "settings">> {
  readonly model?: Model;
  /**
   * Finds named models and the keys of all. Default, when the model is a name: the catalogue, `models.json` and
   * `auth.json` of tau's home, and the keys in `env`.
   */
  readonly models?: ModelRegistry;
  /**
   * Tools of the program's own, and built-in ones by name. A tool may say what its calls touch and what they are about, and
   * have advice for the system prompt. Default: read, bash, edit, write.
   */
  readonly tools?: readonly ((AgentTool & ToolFacts) | string)[];
  /** Shortens a context that becomes too long. Default: tau's own; false for none, a full context then ends the run. */
  readonly compactor?: Compactor | false;
  /** Limits, retries, time-outs and the like, laid over the defaults of the command. */
  readonly settings?: SessionSettingsInput;
}
